"""What can go wrong, in the user's words.

In:  nothing.
Out: one class per kind of remedy. Every message is one sentence: where, what, what to do.
What is wrong with an argument is a ValueError too, as Python and scikit-learn have it.
The command line turns any of them into that sentence and exit code 2."""


class SpinneyError(Exception):
    """Something that the user can put right."""


class DataError(SpinneyError, ValueError):
    """The table: a cell, a column or its kind must change."""


class ChoiceError(SpinneyError, ValueError):
    """A name, an option or a combination of them must change."""


class LimitError(SpinneyError):
    """The job would need more memory or time than there is."""


class FileFormatError(SpinneyError):
    """A file is not what its name says, or is cut short."""
