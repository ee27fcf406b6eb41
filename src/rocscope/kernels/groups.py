"""The loops over rows that are parted: into slots, and from the sorted scores of a group to its levels."""

from rocscope.kernels.kernel import Kernel


@Kernel
def count(slot, bounds):
    """Add how many entries each slot has to `bounds`, two places after it."""
    for i in range(slot.size):
        bounds[slot[i] + 2] += 1


@Kernel
def deal(slot, values, bounds, dealt):
    """Bring values into their slots, in the order they have; `bounds[s + 1]` is where slot s goes on, before and after.

    When all are dealt that is its end, and `bounds[s]` its beginning.
    """
    for i in range(slot.size):
        s = slot[i] + 1
        dealt[bounds[s]] = values[i]
        bounds[s] += 1


@Kernel
def merge(codes, bounds, code, tp, fp, start):
    """Write the levels of groups, downwards, counted from 0 in each, and where those of each group begin.

    Codes of positives (slot 2·group) and of negatives (the next slot) increase. Returns the number of levels.
    """
    size = 0
    for group in range(start.size - 1):
        start[group] = size
        i, no_pos = bounds[2 * group + 1] - 1, bounds[2 * group]
        j, no_neg = bounds[2 * group + 2] - 1, bounds[2 * group + 1]
        pos = 0
        neg = 0
        while i >= no_pos or j >= no_neg:
            value = codes[i] if j < no_neg or (i >= no_pos and codes[i] >= codes[j]) else codes[j]
            while i >= no_pos and codes[i] == value:
                i -= 1
                pos += 1
            while j >= no_neg and codes[j] == value:
                j -= 1
                neg += 1
            code[size] = value
            tp[size] = pos
            fp[size] = neg
            size += 1
    start[start.size - 1] = size
    return size


@Kernel
def hulls(up, right, start, kept, first):
    """Write which points of groups are vertices of the upper hull of each, from (0, 0) on, and where each begins.

    Points go to the right, and the last of a group is the highest. Returns the number of vertices.
    """
    size = 0
    for group in range(len(start) - 1):
        bottom = size
        first[group] = size
        for i in range(start[group], start[group + 1]):
            while size > bottom:
                j = kept[size - 1]
                y, x = up[j], right[j]
                below, left = y * 0, x * 0
                if size - 1 > bottom:
                    below, left = up[kept[size - 2]], right[kept[size - 2]]
                if (y - below) * (right[i] - x) > (up[i] - y) * (x - left):
                    break
                size -= 1
            kept[size] = i
            size += 1
    first[len(start) - 1] = size
    return size
