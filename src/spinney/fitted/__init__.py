"""The types of fitted local models, by the word that stands for them in files.

In:  a word; or a class of models from outside, through sp.register.
Out: the class, imported when it is first needed."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from spinney import plugins
from spinney.choices import Code, loaded
from spinney.errors import ChoiceError

if TYPE_CHECKING:
    from spinney.fitted.model import LocalModel

_MODELS: dict[str, Code] = {
    "table": "spinney.fitted.table:Table",
    "partition": "spinney.fitted.partition:Partition",
    "linear-leaves": "spinney.fitted.linear_leaves:LinearLeaves",
    "polynomial": "spinney.fitted.polynomial:Polynomial",
    "basis": "spinney.fitted.basis:Basis",
    "regression": "spinney.fitted.gaussian:Regression",
    "gaussian-bayes": "spinney.fitted.gaussian:GaussianBayes",
    "student-regression": "spinney.fitted.gaussian:StudentRegression",
    "embedded-regression": "spinney.fitted.embedded:Embedded",
    "cut-table": "spinney.fitted.cut_table:CutTable",
}


def model_class(word: object) -> type[LocalModel] | None:
    """The class of models with this word; None if there is none."""
    if word not in _MODELS:  # not one of ours: plug-ins may bring it
        for sentence in plugins.load():
            warnings.warn(sentence, stacklevel=2)
    if not isinstance(word, str) or word not in _MODELS:
        return None
    found: type[LocalModel] = loaded(_MODELS[word])
    return found


def register_model(model: type[LocalModel]) -> None:
    """One more class, under its `word`: files that hold such models can then be written and read."""
    from spinney.fitted.model import LocalModel

    if not issubclass(model, LocalModel):
        raise ChoiceError(f"{model.__name__} is no class of models; derive it from spinney.fitted.model.LocalModel")
    missing = sorted(getattr(model, "__abstractmethods__", ()))
    if missing:
        raise ChoiceError(f"the model {model.__name__} has no {', '.join(missing)}; add what LocalModel asks for")
    word = getattr(model, "word", None)
    if not isinstance(word, str) or not re.fullmatch(r"[a-z][a-z0-9_-]*", word):
        raise ChoiceError(
            f"the model {model.__name__} has the word {word!r}; set `word` to small letters, digits, '-' and '_'"
        )
    if word in _MODELS and _MODELS[word] is not model:
        raise ChoiceError(f"there is a model {word!r} already; give {model.__name__} another word")
    _MODELS[word] = model
