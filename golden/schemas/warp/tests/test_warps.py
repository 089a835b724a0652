import pytest
import torch
import torch._dynamo.testing
import warps

OPERATORS = [warps.spread, warps.spread_twice, warps.picked]


def compiled_once(call):
    """How often a function is compiled for three numbers of rows."""
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(call, backend=counter, fullgraph=True, dynamic=True)
    for rows in (4, 5, 7):
        x = torch.rand(rows, 3)
        assert torch.equal(compiled(x), call(x))
    return counter.frame_count


@pytest.mark.parametrize("operator", OPERATORS)
def test_rows_may_be_a_size(operator):
    assert compiled_once(lambda x: operator(x, x.size(0) - 1) + 1) == 1


@pytest.mark.parametrize("operator", OPERATORS)
def test_values(operator):
    x = torch.arange(6.0).view(3, 2)
    found = operator(x, 2)
    if operator is warps.picked:
        assert found.tolist() == [[0, 1], [2, 3]]
    else:
        assert found.shape == (4 if operator is warps.spread_twice else 2, 2)
        assert found[0].tolist() == [6, 9]


@pytest.mark.parametrize("operator", OPERATORS)
def test_opcheck(operator):
    needs_gradient = operator is not warps.picked
    torch.library.opcheck(operator.default, (torch.rand(3, 2, requires_grad=needs_gradient), 2))


def test_gradient():
    x = torch.rand(3, 2, requires_grad=True)
    warps.spread(x, 4).sum().backward()
    assert torch.equal(x.grad, torch.full((3, 2), 4.0))


def test_a_negative_number_of_rows():
    with pytest.raises(RuntimeError, match="expected a number of rows, got -1"):
        warps.spread(torch.rand(3, 2), -1)
