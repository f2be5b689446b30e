"""Files that mean harm: refused by name before anything runs, in little time and memory."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import time
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serialization.torch_writer import (
    Global,
    Reduce,
    archive,
    good_files,
    ordered,
    save,
    save_legacy,
)

import pyqref
from pyqref.serialization import FileError
from pyqref.serialization.torch_files import machine


def load(data: bytes) -> Any:
    return pyqref.load(io.BytesIO(data))


def in_both(pickled: bytes) -> list[bytes]:
    """A zip container and a legacy file around a pickle."""
    start = save_legacy(None)
    first = start.index(b"\x80\x02N.")
    return [archive({"data.pkl": pickled}), start[:first] + pickled + start[first + 4 :]]


GADGETS = [
    "os.system",
    "posix.system",
    "nt.system",
    "subprocess.Popen",
    "builtins.eval",
    "builtins.exec",
    "builtins.getattr",
    "builtins.__import__",
    "builtins.open",
    "builtins.compile",
    "builtins.list",
    "__builtin__.eval",
    "operator.attrgetter",
    "functools.partial",
    "importlib.import_module",
    "runpy.run_path",
    "webbrowser.open",
    "pickle.loads",
    "shutil.rmtree",
    "socket.socket",
    "copyreg._reconstructor",
    "codecs.encode",
    "_codecs.decode",
    "numpy.load",
    "numpy.testing._private.utils.runstring",
    "numpy.f2py.capi_maps.getinit",
    "torch.load",
    "torch.hub.load",
    "torch.jit.load",
    "torch.serialization.load",
    "torch._inductor.codecache.compile_file",
    "torch.utils.collect_env.run",
    "torch.distributed.nn.jit.instantiator.do_instantiate_remote_module_template",
    "torch.storage._load_from_bytes",
    "torch.nn.modules.linear.Linear",
    "torch.nn.modules.container.Sequential",
    "torch.fx.graph_module.reduce_graph_module",
    "torch.ao.quantization.fake_quantize.FakeQuantize",
    "pyqref.load",
    "collections.defaultdict",
    "types.FunctionType",
    "datetime.datetime",
    "pathlib.PosixPath",
    "__main__.Net",
    "torch._utils._rebuild_tensor_v2.__globals__",
    "torch.FloatStorage.__class__",
]


@pytest.mark.parametrize("name", GADGETS)
def test_every_other_name_is_refused(name: str) -> None:
    """Named, called, made with NEWOBJ or handed to a constructor: it is refused by its name."""
    shown = name.replace("__builtin__", "builtins").split(".")[-1]
    text = {
        "torch.storage._load_from_bytes": "pickle.dump",
        "collections.defaultdict": "defaultdict",
    }
    shown = text.get(name, shown)
    for value in (
        Global(name),
        Reduce(name, ("touch /tmp/never",)),
        Reduce(name, ("x",), new=True),
        {"x": Reduce("torch._tensor._rebuild_from_type_v2", (Global(name), 0, (), None))},
    ):
        for data in (save(value), save_legacy(value)):
            with pytest.raises(FileError, match=f"refused: .*{shown}"):
                load(data)


def test_nothing_runs(tmp_path) -> None:
    """Nothing that pickle would run on loading runs, in any protocol."""

    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    for protocol in range(6):
        for value in (Hostile(), {"a": [Hostile()]}, [1, Hostile()]):
            for data in in_both(pickle.dumps(value, protocol)):
                with pytest.raises(FileError, match=r"names (posix|nt)\.mkdir"):
                    load(data)
    assert [] == list(tmp_path.iterdir())
    with pytest.raises(FileError, match=r"such as pickle\.dump writes"):
        load(pickle.dumps(Hostile()))


def test_a_model_saved_whole() -> None:
    """It is told from other objects, with what to do."""
    state = {"training": True, "_parameters": ordered({}), "_forward_hooks": ordered({})}
    with pytest.raises(FileError, match=r"a model saved as a whole, .*__main__\.Net.*state_dict"):
        load(save(Reduce("__main__.Net", (), state, new=True)))


PICKLES = {
    "empty": (b"", "truncated"),
    "no end": (b"\x80\x02N", "truncated"),
    "two values": (b"NN.", "values left over"),
    "no value": (b".", "takes a value that is not there"),
    "a mark as value": (b"(.", "takes a value that is not there"),
    "no mark": (b"Nt.", "a mark that is not there"),
    "recalls nothing": (b"h\x05.", "recalls value 5"),
    "remembers nothing": (b"q\x05.", "stores a value that does not exist"),
    "remembers at a large place": (b"Nr\xff\xff\xff\xff.", "stores a value"),
    "a long text": (b"X\xff\xff\xff\xffab.", "truncated: 4294967295 bytes should follow"),
    "a longer text": (b"\x8d" + b"\xff" * 8 + b".", "truncated"),
    "a long integer": (b"\x8b\xff\xff\xff\x7f.", "an integer of 2147483647 bytes"),
    "a negative length": (b"\x8b\xff\xff\xff\xff.", "an integer of -1 bytes"),
    "digits": (b"I" + b"9" * 5000 + b"\n.", "does not end within"),
    "no digits": (b"Iabc\n.", "'abc' where a number must be"),
    "an extension": (b"\x82\x01.", "the instruction EXT1, which is refused"),
    "INST": (b"(ios\nsystem\n.", "the instruction INST"),
    "OBJ": (b"(No.", "the instruction OBJ"),
    "DUP": (b"N2.", "the instruction DUP"),
    "PERSID": (b"Pabc\n.", "the instruction PERSID"),
    "NEWOBJ_EX": (b")}\x92.", "the instruction NEWOBJ_EX"),
    "a buffer": (b"\x97.", "the instruction NEXT_BUFFER"),
    "an unknown byte": (b"\xff.", "where an instruction must be"),
    "calls a number": (b"K\x01)R.", "calls a int"),
    "arguments that are a list": (b"ccollections\nOrderedDict\n]R.", "gives arguments as a list"),
    "builds a list": (b"]}b.", "changes a value that is not there"),
    "builds twice": (b"}}b}b.", "sets the state of a value twice"),
    "appends to a text": (b"X\x01\x00\x00\x00aNa.", "changes a value"),
    "items in a list": (b"]NNs.", "changes a value"),
    "half a pair": (b"}(Nu.", "a key without a value"),
    "members of no set": (b"](N\x90.", "changes a value"),
    "text that is not UTF-8": (b"X\x01\x00\x00\x00\xff.", "not UTF-8"),
    "a name of numbers": (b"K\x01K\x02\x93.", "gives a name as a int"),
    "itself": (b"]q\x00h\x00a.", "contains itself"),
    "a dictionary in itself": (b"}q\x00(Nh\x00u.", "contains itself"),
    "a tuple in itself through a list": (b"]q\x00(h\x00tq\x01a.", "contains itself"),
    "deep lists": (b"]" * 5000 + b"a" * 4999 + b".", "nested more than 100 levels"),
    "deep tuples": (b")" + b"\x85" * 100_000 + b".", "nested more than 100 levels"),
    "values that double": (b")" + b"q\x00h\x00\x86" * 90 + b".", "more than 2000000 values"),
    "bytes behind the end": (b"N.N", "1 bytes behind its end"),
}


@pytest.mark.parametrize("name", PICKLES)
def test_broken_pickles(name: str) -> None:
    """Every instruction is checked; loops and lists of lists end."""
    data, message = PICKLES[name]
    files = in_both(data)
    with pytest.raises(FileError, match=message):
        load(files[0])
    if name not in ("empty", "bytes behind the end", "no end"):  # there the next pickle follows
        with pytest.raises(FileError):
            load(files[1])


@pytest.mark.parametrize(
    "called",
    ["torch.Size", "torch.device", "builtins.bytearray", "_codecs.encode", "numpy.dtype"],
)
def test_values_that_double_in_a_message(called: str) -> None:
    """A message shows a few levels of a value, not all of its 2 to the 90 leaves."""
    module, _, name = called.rpartition(".")
    doubled = b")" + b"q\x00h\x00\x86" * 90
    for arguments in (doubled + b"\x85", doubled + b"N\x86", doubled):
        with pytest.raises(FileError):
            load(in_both(f"c{module}\n{name}\n".encode() + arguments + b"R.")[0])


def test_a_flood_of_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of instructions is bounded, and with it memory."""
    monkeypatch.setattr(machine, "_MAX_INSTRUCTIONS", 1000)
    with pytest.raises(FileError, match="more than 1000 instructions; save long lists"):
        load(in_both(b"(" + b"]" * 2000 + b"l.")[0])


GOOD = good_files()


def outcome(data: bytes) -> None:
    """A value or a FileError, soon."""
    start = time.monotonic()
    with contextlib.suppress(FileError):
        load(data)
    assert time.monotonic() - start < 20


@pytest.mark.filterwarnings("ignore:load")
@given(
    st.sampled_from(sorted(GOOD)),
    st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_flipped_bytes(name: str, changes: list[tuple[int, int]]) -> None:
    """Whatever bytes are changed, the outcome is a value or a FileError."""
    data = bytearray(GOOD[name])
    for place, byte in changes:
        data[place % len(data)] = byte
    outcome(bytes(data))


@pytest.mark.filterwarnings("ignore:load")
@given(
    st.sampled_from(sorted(GOOD)), st.integers(0, 2**16), st.binary(max_size=8), st.integers(0, 8)
)
def test_edited_pickles(name: str, place: int, inserted: bytes, removed: int) -> None:
    """Edited pickles are refused even if the checksums and the directory are right again."""
    data = GOOD[name]
    if name.startswith("legacy"):
        records = {"": data}
    else:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            records = {each.partition("/")[2]: file.read(each) for each in file.namelist()}
    key = "data.pkl" if "data.pkl" in records else ""
    text = records[key]
    place %= len(text)
    records[key] = text[:place] + inserted + text[place + removed :]
    outcome(records[""] if key == "" else archive(records))


@pytest.mark.parametrize("name", sorted(GOOD))
def test_every_truncation_is_an_error(name: str) -> None:
    """No prefix of a file is a file."""
    data = GOOD[name]
    for length in range(len(data)):
        with pytest.raises(FileError):
            load(data[:length])
