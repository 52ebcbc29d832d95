"""What a search of a method varies: what the method declares, fitted to the settings that the search starts from."""

from __future__ import annotations

from collections.abc import Collection

from programs.methods.registry import spec
from programs.methods.space import Space
from programs.settings import Settings


def space_of(method: str, settings: Settings, cheap: bool = False, fixed: Collection[str] = ()) -> Space:
    """Give what a search of a method varies: nothing that is `fixed`.

    A `cheap` one leaves alone what makes an index ask a model again.
    """
    free = [parameter for parameter in spec(method).space if parameter.key not in fixed]
    return Space.fit([one for one in free if not (cheap and one.asks_again(settings))], settings)
