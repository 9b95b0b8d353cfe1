"""A network that runs in this process: ONNX, one text at a time, on one thread.

One at a time is no slower here than many: texts of a batch are padded to the longest, and the states of
32 texts leave the processor's cache. And networks on 8-bit integers scale their states by the largest in
the batch, so that a text's vector would depend on its neighbours.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from souvenance.adapters.embed.no_telemetry import keep_quiet
from souvenance.adapters.embed.vectors import packed
from souvenance.adapters.embed.wordpiece import tokens
from souvenance.errors import Misconfigured

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Pooling = Literal["mean", "first"]

_IDS = "input_ids"
_FILLED = {_IDS: None, "attention_mask": 1, "token_type_ids": 0}
_WHOLE = ("sentence_embedding", "text_embeds")
_STATES = "last_hidden_state"


class Network:
    """Any number of threads may use it."""

    def __init__(
        self,
        model: bytes,
        tokenizer: Tokenizer,
        *,
        pooling: Pooling = "mean",
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        """`beside` has the files that the model says its weights are in, by name. Raises: Misconfigured."""
        self._session = _session(model, beside or {})
        self._tokenizer = tokenizer
        self._pooling = pooling
        self._inputs = [one.name for one in self._session.get_inputs()]
        if strange := [name for name in self._inputs if name not in _FILLED]:
            raise Misconfigured(f"the model wants {strange[0]!r}, which is not known here")
        outputs = {one.name: one.shape for one in self._session.get_outputs()}
        self._output = next((name for name in (*_WHOLE, _STATES) if name in outputs), next(iter(outputs)))
        size = outputs[self._output][-1] if outputs[self._output] else None
        self.dimensions = size if isinstance(size, int) else len(self._values(""))

    def vector(self, text: str) -> bytes:
        """Raises: Misconfigured if what the model gives is none."""
        try:
            return packed(self._values(text))
        except ValueError as error:
            raise Misconfigured(f"the model gives no vector: {error}") from error

    def _values(self, text: str) -> list[float]:
        import numpy as np

        ids = np.array([tokens(self._tokenizer, text)], dtype=np.int64)
        filled = {
            name: ids if (value := _FILLED[name]) is None else np.full_like(ids, value)
            for name in self._inputs
        }
        found = self._session.run([self._output], filled)[0][0]
        if found.ndim == 2:
            found = found.mean(axis=0) if self._pooling == "mean" else found[0]
        values: list[float] = found.astype(np.float64).tolist()
        return values


def _session(model: bytes, beside: Mapping[str, bytes]) -> Any:
    """Raises: Misconfigured if this runtime can't run the model."""
    keep_quiet()
    import onnxruntime  # type: ignore[import-untyped]

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    for name in ("intra_op.allow_spinning", "inter_op.allow_spinning"):
        options.add_session_config_entry(f"session.{name}", "0")
    if overflows(platform.machine(), _processor()):
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        if beside:
            options.add_external_initializers_from_files_in_memory(
                list(beside), list(beside.values()), [len(content) for content in beside.values()]
            )
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except failures() as error:
        raise Misconfigured(
            f"the model can't be run: {error}", hint="Bring onnxruntime up to date, or use another model."
        ) from error


def failures() -> tuple[type[Exception], ...]:
    """What the runtime raises: a kind for each of its codes, and no base for them."""
    keep_quiet()
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime  # type: ignore[import-untyped]

    kinds = vars(runtime).values()
    return tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception))


def overflows(machine: str, processor: str) -> bool:
    """Whether sums of 8-bit products may overflow: an x86 processor without instructions made for them."""
    return machine.lower() in ("x86_64", "amd64") and "vnni" not in processor


def _processor() -> str:
    try:
        return Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return ""
