"""Where does a request belong, and who sends it? The fields that every request shares."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from loom_ray.contract.fields import Name, OptionalName, WildName


class Request(BaseModel):
    """A request's body. Types are strict: `"60"` is no number. Unknown fields are reported, never stored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class Answer(BaseModel):
    """An answer's body. Text fields that have nothing to say are empty, not null."""

    model_config = ConfigDict(extra="forbid")


class Scoped(Request):
    """Everything happens in one namespace of one org; both are compared for equality, never as patterns."""

    org: Name = "dev"
    namespace: Name = "local"


class Writes(Scoped):
    """Whose row is written. `-` is nobody in particular; nothing here ever means "everyone"."""

    agent: Name = "-"
    user_id: Name = "-"
    session_id: Name = "-"
    run_id: OptionalName = ""


class Reads(Scoped):
    """Who asks. `*` for any; reads over many rows take `-` for any user too."""

    agent: WildName = Field("*", description="'*' is any agent")
    user_id: WildName = Field("-", description="rows of this user; '-' asks for no one in particular")
    session_id: WildName = "-"
    run_id: OptionalName = ""


class Receipt(Answer):
    """What every answer to a request with a body carries."""

    ignored_args: list[str] = Field(default_factory=list[str], description="arguments that the op does not know")
    did_you_mean: dict[str, str] = Field(default_factory=dict[str, str], description="for those close to a real one")
