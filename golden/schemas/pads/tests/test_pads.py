import pads
import pytest
import torch
import torch._dynamo.testing


def test_the_length_may_be_a_size():
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda x: pads.filled(x, x.size(0) * 2) + 1, backend=counter, fullgraph=True, dynamic=True)
    for rows in (4, 5, 7):
        x = torch.rand(rows, 3)
        assert torch.equal(compiled(x), pads.filled(x, 2 * rows) + 1)
    assert counter.frame_count == 1


def test_values():
    assert pads.filled(torch.ones(1, 2), 3, 0.5).tolist() == [[1, 1], [0.5, 0.5], [0.5, 0.5]]


def test_opcheck():
    torch.library.opcheck(pads.filled.default, (torch.rand(3, 2), 5))


def test_too_many_rows():
    with pytest.raises(RuntimeError, match="3 rows do not fit in 2"):
        pads.filled(torch.rand(3, 2), 2)
