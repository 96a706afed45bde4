"""loom-ray: a memory server for AI agents that judges every write. See ARCHITECTURE.md."""

__version__ = "0.1.0"
