"""Chat completions with retries: what one decision asks of a server, and what came of it.

Retried, after a jittered wait, are what another attempt can help: no connection, no whole answer in time, half a JSON,
and the codes 408, 409, 429 and from 500 on. Attempts that are used up are a failure of ours (HarnessError: the rollout
is masked, never scored); a request that the server refuses is the user's to mend (ConfigError).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from masim.errors import ConfigError, HarnessError
from masim.llm.served.account import Account
from masim.llm.served.post import PostError, Reply, post
from masim.llm.served.settings import ServerSettings
from masim.rng import Noise

RETRIED = (408, 409, 429)
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Request:
    """One conversation to go on with; ``noise`` and ``key`` are where its seed and its jitter come from."""

    messages: Sequence[Mapping[str, Any]]
    noise: Noise
    key: tuple[str | int, ...]
    tools: Sequence[Mapping[str, Any]] = ()
    most_tokens: int = 256
    temperature: float = 1.0


@dataclass(frozen=True, slots=True)
class Completion:
    """What the server wrote."""

    text: str = ""
    calls: tuple[Mapping[str, Any], ...] = ()
    """Tool calls as the server gave them: name, and arguments as text or as an object."""
    tokens: int = 0
    logp: float = 0.0
    """Of all tokens, 0 where the server gives none."""


class _Again(Exception):
    """An attempt failed in a way that another one can help: (why, seconds that the server asks to wait)."""

    def __init__(self, why: str, after_s: float = 0.0) -> None:
        super().__init__(why, after_s)
        self.why, self.after_s = why, after_s


@dataclass(slots=True)
class Client:
    """One server. Raises ConfigError when the key's variable is not set."""

    settings: ServerSettings
    sleep: Callable[[float], None] = time.sleep
    account: Account = field(init=False)
    _headers: dict[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.account = Account(self.settings)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.settings.key_env:
            key = os.environ.get(self.settings.key_env, "").strip()
            if not key:
                fix = f"export {self.settings.key_env}=..."
                raise ConfigError("the server's key is not set", "server.key_env", self.settings.key_env, "", fix)
            self._headers["Authorization"] = f"Bearer {key}"

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order; several are under way at once."""
        if len(requests) < 2:
            return [self._complete(request) for request in requests]
        with ThreadPoolExecutor(min(len(requests), self.settings.parallel)) as pool:
            return list(pool.map(self._complete, requests))

    def _complete(self, request: Request) -> Completion:
        body = json.dumps(self._body(request)).encode()
        nth = 1
        while True:
            self.sleep(self.account.admit())
            try:
                return self._attempt(body)
            except _Again as again:
                if nth >= self.settings.attempts:
                    where = self.settings.base_url
                    raise HarnessError(f"the model server {where} failed {nth} times, at last: {again.why}") from None
                self.sleep(self._wait_s(request, nth, again.after_s))
            nth += 1

    def _wait_s(self, request: Request, nth: int, after_s: float) -> float:
        """Return the wait before the next attempt: jittered, and as long as the server asks within the cap."""
        settings = self.settings
        longest = min(settings.cap_s, settings.base_s * 2.0 ** (nth - 1))
        jittered = longest * request.noise.uniform("retry", *request.key, nth)
        return max(jittered, min(after_s, settings.cap_s))

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.settings.model,
            "messages": list(request.messages),
            "max_tokens": request.most_tokens,
            "temperature": request.temperature,
            "seed": request.noise.seed64("served", *request.key) % 2**31,
        }
        if request.tools and self.settings.tools:
            body["tools"] = list(request.tools)
        if self.settings.logprobs:
            body["logprobs"] = True
        return body

    def _attempt(self, body: bytes) -> Completion:
        url = self.settings.base_url.rstrip("/") + "/chat/completions"
        try:
            reply = post(url, body, self._headers, self.settings.timeout_s)
        except PostError as error:
            raise _Again(self._safe(str(error))) from None
        if reply.status in RETRIED or reply.status >= 500:
            raise _Again(f"{reply.status} {self._told(reply)}", _seconds(reply.retry_after))
        if reply.status != 200:
            raise self._refused(reply)
        try:
            found = json.loads(reply.body)
            completion = read_completion(found)
            usage = found.get("usage") or {}
            read, wrote = int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
            raise _Again(f"the answer is no chat completion ({type(error).__name__})") from None
        self.account.book(read, wrote)
        return completion

    def _refused(self, reply: Reply) -> ConfigError:
        fixes = {
            401: f"check the key in ${self.settings.key_env}" if self.settings.key_env else "set server.key_env",
            403: "check what the key may do",
            404: "check server.base_url and server.model",
        }
        problem = f"the model server refuses the request: {reply.status} {self._told(reply)}"
        return ConfigError(problem, "server", self.settings.base_url, "", fixes.get(reply.status, ""))

    def _told(self, reply: Reply) -> str:
        return self._safe(reply.body[: 4 * _SHOWN].decode("utf-8", "replace"))[:_SHOWN]

    def _safe(self, text: str) -> str:
        """Return a text without the key, whatever a server or a library put into it."""
        key = self._headers.get("Authorization", "").removeprefix("Bearer ")
        return text.replace(key, "***") if key else text


def read_completion(found: Any) -> Completion:
    """Return what a response says. Raises KeyError and kin for what is no response."""
    choice = found["choices"][0]
    message = choice["message"]
    text = message.get("content") or ""
    calls = [
        {"name": call["function"]["name"], "arguments": call["function"].get("arguments") or {}}
        for call in message.get("tool_calls") or ()
    ]
    if not isinstance(text, str):
        raise TypeError("content is no text")
    given = (choice.get("logprobs") or {}).get("content") or ()
    tokens = int((found.get("usage") or {}).get("completion_tokens", len(given)))
    return Completion(text, tuple(calls), tokens, float(sum(token["logprob"] for token in given)))


def _seconds(retry_after: str) -> float:
    """Return a Retry-After in seconds, 0 for one that is none; dates are not waited for."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        return 0.0
