"""What may an owner set? Every setting and every limit, with its default; read from LOOM_* variables."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """One immutable value, read once at start and handed down; nothing below the command line reads the environment."""

    model_config = SettingsConfigDict(env_prefix="LOOM_", frozen=True, extra="ignore")

    # Where it listens and where it keeps its data
    host: str = "127.0.0.1"
    port: int = Field(7777, ge=1, le=65535)
    storage_url: str = Field("file://./loom-data", description="file://… or s3://bucket/prefix")
    replicas: int = Field(1, ge=1, description="gateway replicas (Ray Serve)")

    # Embedding
    embedder: Literal["local", "openai", "fake"] = "local"
    embedder_pool: int = Field(1, ge=1, description="embedder actors")
    embedder_base_url: str = ""
    embedder_api_key: SecretStr = SecretStr("")
    embedder_model: str = "text-embedding-3-small"
    embedder_dimensions: int = Field(512, ge=8, le=4096)
    embedder_deadline_s: float = Field(10.0, gt=0, description="a write or search that needs a vector waits so long")
    embedder_batch_max: int = Field(64, ge=1)
    embedder_queue_max: int = Field(4096, ge=1, description="texts waiting; past it 503 OVERLOADED")

    # Judging (thresholds: the pages' fallbacks, used where nothing nearer sets one)
    conflict_threshold: float = Field(0.85, ge=0, le=1, description="1.0 disables flagging")
    duplicate_threshold: float = Field(0.97, ge=0, le=1)
    adaptive_thresholds: bool = True
    memory_value_advisory_chars: int = Field(30_000, ge=0, description="0 disables the oversized advisory")
    memory_sensitivity_autodetect: bool = True

    # Refusal (the pages' interval and TTL; here they only matter while the keeper of the patterns is away)
    blacklist_version_check_interval_seconds: float = Field(2.0, gt=0)
    blacklist_cache_ttl_seconds: float = Field(
        300.0, gt=0, description="known patterns serve so long without their keeper; then writes are refused"
    )
    blacklist_wait_s: float = Field(5.0, gt=0, description="a write waits so long for a thread that checks; then 503")

    # Namespace actors
    namespace_idle_seconds: float = Field(900.0, gt=0)
    namespaces_live_max: int = Field(0, ge=0, description="0: from the node's memory")
    namespace_queue_max: int = Field(2048, ge=1, description="calls waiting in one gateway for one namespace")
    gateway_batch_max: int = Field(128, ge=1, description="requests that ride in one actor call")
    request_deadline_s: float = Field(60.0, gt=0)

    # Storage
    snapshot_segments: int = Field(1000, ge=1)
    snapshot_seconds: float = Field(600.0, gt=0)
    restore_window_days: int = Field(14, ge=1)
    idempotency_seconds: int = Field(86_400, ge=1)
    idempotency_keys_max: int = Field(100_000, ge=1, description="remembered per namespace, oldest forgotten first")

    # Limits of a request
    max_request_bytes: int = Field(32 * 1024 * 1024, ge=1024)
    bulk_entries_max: int = Field(1000, ge=1)
    json_depth_max: int = Field(64, ge=1)
    name_chars_max: int = Field(128, ge=1, description="org, namespace, agent, user_id, session_id, run_id")
    memory_key_chars_max: int = Field(512, ge=1)
    reason_chars_max: int = Field(1024, ge=1)
    tags_max: int = Field(64, ge=1)
    tag_chars_max: int = Field(256, ge=1)
    entities_max: int = Field(64, ge=1)
    files_max: int = Field(32, ge=1)
    cursor_chars_max: int = Field(8192, ge=256, description="a cursor holds a key and an id, encoded")
    query_chars_max: int = Field(8192, ge=1)
    clear_rows_max: int = Field(5000, ge=1, description="rows that one memory.clear retires")
    resolve_pairs_max: int = Field(
        1000, ge=1, description="pairs that one conflicts.resolve of a group or memory.dedup_collapse settles"
    )
    pattern_chars_max: int = Field(4096, ge=1, description="of a pattern that is refused; a regex has its own bound")
    sweep_rows_max: int = Field(5000, ge=1, description="rows that one sweep tombstones")
    rollback_changes_max: int = Field(5000, ge=1, description="changes that one memory.rollback may concern")
    as_of_embedded_max: int = Field(256, ge=0, description="past texts embedded for one search as_of; best words first")
    list_limit_max: int = Field(1000, ge=1)
    top_k_max: int = Field(100, ge=1)
