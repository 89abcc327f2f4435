"""The model in use: pick another from the list, or name one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.core.errors import AgentError
from agent_tui.core.model import THINKING_LEVELS, Model, ThinkingLevel
from agent_tui.tui.figures import count

if TYPE_CHECKING:
    from agent_tui.tui.app import ChatApp
    from agent_tui.tui.screens.models import ModelChoice, Picked, Renewed


def about(model: Model) -> str:
    """A model's window, prices (in and out, per million tokens), eyes and name, as far as known."""
    window = count(model.context_window) if model.context_window else ""
    price = f"${model.cost.input:g}/${model.cost.output:g}" if model.cost else ""
    images = "images" if model.images else ""
    return " · ".join(part for part in (window, price, images, model.name or "") if part)


class ModelMenu:
    """Opens the list, and puts to use what is picked."""

    def __init__(self, app: ChatApp) -> None:
        self._app = app
        self._known: dict[str, Model] = {}

    def open(self) -> None:
        """Show the list; what local servers serve joins it as they answer."""
        from agent_tui.tui.screens.models import ModelScreen

        app = self._app
        state = app.session.agent.state
        screen = ModelScreen(
            self._choices(),
            state.model.key,
            state.thinking_level,
            mark=app.shelf.toggle if app.shelf is not None else lambda key: False,
            renew=self._renewed if app.shelf is not None else None,
        )
        app.push_screen(screen, self._take)

    def use(self, key: str) -> str | None:
        """Switch to a model; the sentence that says why not, if it cannot be."""
        app = self._app
        try:
            model = app.session.set_model(self._known.get(key, key))
        except AgentError as error:
            return error.message
        when = "from the next step on" if app.session.is_running else "from now on"
        is_known = model.context_window is not None or model.cost is not None
        app.flash(f"{model.key} {when}{'' if is_known else '; its window and price are unknown'}")
        app.start(self.describe())
        return None

    async def describe(self) -> None:
        """Learn from a local server what only it knows: how much its model can read at once."""
        app = self._app
        model = app.session.agent.state.model
        if app.shelf is None or not app.shelf.is_near(model):
            return
        described = await app.shelf.described(model)
        if app.session.agent.state.model is model and described != model:
            app.session.set_model(described)
            app.redraw()

    def stand_in(self, names: str) -> str | None:
        """Have these models go on when the one in use is overloaded; without names say who does."""
        app = self._app
        fallback = app.session.fallback
        if names == "off":
            fallback.names = ()
        elif names:
            try:
                fallback.names = tuple(fallback.find(name).key for name in names.split())
            except AgentError as error:
                return error.message
        who = ", then ".join(fallback.names)
        app.flash(f"When the model is overloaded, {who or 'nobody'} goes on for the turn.")
        return None

    def think(self, level: str) -> str | None:
        """Set how hard to think; the sentence that says which levels there are, if not so."""
        chosen: ThinkingLevel | None = next((n for n in THINKING_LEVELS if n == level), None)
        if chosen is None:
            return f"Thinking levels: {', '.join(THINKING_LEVELS)}."
        self._app.session.set_thinking(chosen)
        self._app.redraw()
        return None

    def _take(self, picked: Picked | None) -> None:
        app = self._app
        if picked is not None:
            reason = self.use(picked.key)
            if reason is None and picked.level is not None:
                reason = self.think(picked.level)
            if reason is not None:
                app.flash(reason, "warning")
        app.redraw()

    async def _renewed(self, hosted: bool) -> Renewed:
        shelf = self._app.shelf
        problems = await shelf.renew(hosted=hosted) if shelf is not None else []
        return self._choices(), problems

    def _choices(self) -> list[ModelChoice]:
        from agent_tui.tui.screens.models import ModelChoice

        items = self._app.shelf.items() if self._app.shelf is not None else []
        self._known = {item.model.key: item.model for item in items}
        choices = [
            ModelChoice(
                item.model.key, about(item.model), item.levels, item.lacks, item.is_favourite
            )
            for item in items
        ]
        present = self._app.session.agent.state.model
        if present.key not in self._known:
            choices.insert(0, ModelChoice(present.key, "in use"))
        return choices
