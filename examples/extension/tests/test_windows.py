import torch
import windows


def test_sums():
    x = torch.arange(8.0).view(2, 4)
    assert windows.window_sum(x, 2).tolist() == [[0, 1, 3, 5], [4, 9, 11, 13]]


def test_is_compiled_once_for_any_size():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: windows.window_sum(x, 2) + 1, backend="eager", fullgraph=True)
    x = torch.rand(5, 6)
    torch._dynamo.mark_dynamic(x, 0)
    assert torch.equal(compiled(x), windows.window_sum(x, 2) + 1)
