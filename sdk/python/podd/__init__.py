"""Client of podd, the agent daemon."""
from . import v1
from .client import Client, PoddError
from .transcript import Block, Change, Transcript

__all__ = ["Block", "Change", "Client", "PoddError", "Transcript", "v1"]
