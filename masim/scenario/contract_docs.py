"""What a scenario may say of a vendor's contract: keys of carriers and docks that all have a silent default."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from masim.scenario.dist_models import Doc
from masim.scenario.quantities import Duration, PositiveDuration, choice
from masim.sim.terms import Decisions, KeyRule

DecisionWay = Annotated[Decisions, BeforeValidator(choice(Decisions, "way of decisions"))]
KeyChoice = Annotated[KeyRule, BeforeValidator(choice(KeyRule, "rule for idempotency keys"))]


class TermsDoc(Doc):
    """What carriers and docks have in common."""

    decisions: DecisionWay = Field(default=Decisions.CALLBACK, description="How the decision on a request arrives.")
    retry_after: Duration | None = Field(
        default=None, description="What a pending answer says about when to ask; 5 min when polled, else nothing."
    )
    idempotency: KeyChoice = Field(default=KeyRule.IGNORED, description="What becomes of an idempotency key.")
    idempotency_ttl: PositiveDuration | None = Field(default=None, description="How long a key that expires is known.")
