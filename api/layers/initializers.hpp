// Initial values of variables.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <functional>

namespace troupe {

/// Makes the initial value of a variable of that shape and type. For weights, the last extent
/// counts outputs, the last but one inputs, and all before are the extents of a filter's window.
/// Random ones draw other numbers in each session, unless they are given a seed, or the graph is
/// (set_random_seed()); two variables of one own seed and shape begin alike.
using initializer =
    std::function<edge(graph_builder&, const shape&, dtype, std::source_location where)>;

namespace initializers {

TROUPE_API initializer constant(double value);
TROUPE_API initializer zeros();
TROUPE_API initializer ones();

TROUPE_API initializer uniform(double low, double high, int64_t seed = 0);
TROUPE_API initializer normal(double deviation, double mean = 0, int64_t seed = 0);
/// Drawn again where beyond two deviations.
TROUPE_API initializer truncated_normal(double deviation, double mean = 0, int64_t seed = 0);

// Keep the size of values, or of gradients, about the same from layer to layer.
TROUPE_API initializer
glorot_uniform(int64_t seed = 0); ///< for tanh and the like (Glorot and Bengio 2010)
TROUPE_API initializer glorot_normal(int64_t seed = 0);
TROUPE_API initializer he_normal(int64_t seed = 0); ///< for relu (He et al. 2015)
TROUPE_API initializer he_uniform(int64_t seed = 0);
TROUPE_API initializer lecun_normal(int64_t seed = 0); ///< for selu (Klambauer et al. 2017)

/// Ones where the last two indices are equal; needs at least two axes.
TROUPE_API initializer identity(double gain = 1);
/// Rows, or columns if there are fewer, are orthonormal times `gain` (Saxe et al. 2014): for
/// recurrent weights. Needs at least two axes; all but the last count as one.
TROUPE_API initializer orthogonal(double gain = 1, int64_t seed = 0);

} // namespace initializers
} // namespace troupe
