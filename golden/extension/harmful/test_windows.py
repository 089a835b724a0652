import pytest
import torch
import windows


def test_a_length_that_is_not_known_is_refused():
    x = torch.rand(5, 6)
    torch._dynamo.decorators.mark_unbacked(x, 1)
    with pytest.raises(Exception, match="data-dependent"):
        torch.compile(lambda x: windows.window_sum(x, 2), backend="eager", fullgraph=True)(x)
