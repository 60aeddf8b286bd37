// Argument checks of the two cross entropy ops, on all devices.
#pragma once
#include "troupe/runtime/types/shape.hpp"

namespace troupe::ops {

inline status check_cross_entropy(const shape& features, const shape& labels) {
  if (features.rank() == 2 && features == labels)
    return {};
  return invalid("features and labels must be matrices of the same shape, got ", features, " and ",
                 labels);
}

/// The same where a label is a class index.
inline status check_sparse_cross_entropy(const shape& features, const shape& labels) {
  if (features.rank() == 2 && labels.rank() == 1 && labels[0] == features[0])
    return {};
  return invalid("features must be a matrix and labels have one element for each of its rows, got ",
                 features, " and ", labels);
}

} // namespace troupe::ops
