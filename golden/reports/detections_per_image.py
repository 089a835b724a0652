"""Count the boxes of each image and unbind the counts, as in reports of detection heads.

Class: a size that the code knows.
"""

import torch
from torch import Tensor


class PerImage(torch.nn.Module):
    def __init__(self, images: int = 2) -> None:
        super().__init__()
        self.images = images

    def forward(self, boxes: Tensor, scores: Tensor, image: Tensor) -> Tensor:
        good = scores > 0.3
        boxes, image = boxes[good], image[good]
        areas = (boxes[:, 2:] - boxes[:, :2]).clamp(min=0).prod(1)
        number = torch.bincount(image, minlength=self.images)
        total = torch.zeros(self.images).index_add(0, image, areas)
        means = [one / count.clamp(min=1) for one, count in zip(total.unbind(), number.unbind())]
        return torch.stack(means)


def target() -> dict[str, object]:
    boxes = torch.rand(5, 4)
    return {
        "model": PerImage(),
        "args": (boxes, torch.tensor([0.9, 0.1, 0.5, 0.7, 0.2]), torch.tensor([0, 0, 1, 0, 1])),
        "dynamic": {"boxes": {0: "boxes"}, "scores": {0: "boxes"}, "image": {0: "boxes"}},
        "more": [((boxes, torch.zeros(5), torch.tensor([0, 0, 1, 0, 1])), {})],
    }
