"""A small OpenAI-compatible server with a real model behind it, which can also misbehave in every way that servers do.

``plan`` says what happens to the requests in their order, the last entry to all further ones: ``ok``, ``tool``,
``hang``, ``drip``, ``500``, ``429``, ``401``, ``404``, ``half``, ``list``, ``close``, ``wrong``, ``huge``.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

KEY = "sk-a-secret-of-the-tests"


class ModelServer:
    """Use as a context manager; ``address`` is what a card's ``base_url`` takes."""

    def __init__(self, model: Any = None, plan: tuple[str, ...] = ("ok",), calls: tuple[str, ...] = ()) -> None:
        self.model, self.plan, self.calls = model, plan, calls
        self.seen: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.over = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner.answer(self)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self.lock:
            nth = len(self.seen)
            self.seen.append(body)
            self.keys.append(handler.headers.get("Authorization", ""))
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self._misbehave(handler, body, self.plan[min(nth, len(self.plan) - 1)])
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            with self.lock:
                self.at_once -= 1

    def _misbehave(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], what: str) -> None:
        if what in ("500", "429", "401", "404"):
            told = {"error": {"message": f"no, and your key is {handler.headers.get('Authorization', 'none')}"}}
            self._send(handler, int(what), json.dumps(told).encode(), {"Retry-After": "0.25"} if what == "429" else {})
        elif what == "hang":
            self.over.wait(5.0)
        elif what == "drip":
            self._drip(handler)
        elif what == "close":
            handler.connection.close()
        elif what == "half":
            self._send(handler, 200, self._completion(body)[:-20])
        elif what == "list":
            self._send(handler, 200, b"[]")
        elif what == "huge":
            self._send(handler, 200, b" " * (9 * 2**20))
        else:
            self._send(handler, 200, self._completion(body, what))

    def _drip(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(100):
            if self.over.is_set():
                return
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    @staticmethod
    def _send(handler: BaseHTTPRequestHandler, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        handler.send_response(code)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def _completion(self, body: dict[str, Any], what: str = "ok") -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": None}
        tokens = {"prompt_tokens": 100, "completion_tokens": 7}
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
        if what in ("tool", "wrong"):
            name = "wait" if what == "tool" else "launch_rocket"
            function = {"name": name, "arguments": json.dumps({"duration": "30 s"})}
            message["tool_calls"] = [{"id": "a", "type": "function", "index": 0, "function": function}]
        elif self.calls:
            message["content"] = self.calls[min(len(self.seen) - 1, len(self.calls) - 1)]
        elif self.model is None:
            message["content"] = 'I wait. {"name": "wait", "arguments": {"duration": "30 s"}}'
        else:
            message["content"], tokens, choice["logprobs"] = self._written(body)
        return json.dumps({"id": "x", "choices": [choice], "usage": tokens}).encode()

    def _written(self, body: dict[str, Any]) -> tuple[str, dict[str, int], dict[str, Any] | None]:
        """Let the model go on with the conversation."""
        import numpy as np

        from masim.llm.guide import Guide
        from masim.llm.score import Question
        from masim.llm.write import Writer

        text = self.model.tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
        prompt = self.model.tokenizer.encode(text, add_special_tokens=False)
        uniforms = np.random.default_rng(body["seed"]).random(min(body["max_tokens"], 24))
        guide = Guide(self.model, uniforms, body["temperature"])
        with self.lock:
            Writer(self.model).write([Question(tuple(prompt[:8]), tuple(prompt[8:]), ())], [guide])
        written = guide.written
        logp = {"content": [{"token": "", "logprob": written.logp / len(written.tokens)}] * len(written.tokens)}
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(written.tokens)}
        return self.model.decode(written.tokens), usage, logp if body.get("logprobs") else None
