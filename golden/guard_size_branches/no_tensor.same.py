# symfix-golden: path=torch/_refs/example.py
import torch


def rows(df, queue, mesh):
    if df.shape[0] == 0 or df.size == 0:
        return queue
    return mesh
