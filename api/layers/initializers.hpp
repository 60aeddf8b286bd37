// Initial values of variables.
#pragma once
#include "troupe/api/graph_builder.hpp"
#include "troupe/runtime/export.hpp"

#include <functional>

namespace troupe {

/// Returns the initial value of a variable of the given shape and type. For weights, the last
/// extent is the number of outputs, the second to last the number of inputs, and the others are the
/// extents of a filter's window. Random initializers draw different numbers in each session, unless
/// they or the graph have a seed (set_random_seed()). Two variables with the same seed and shape
/// get the same values.
using initializer =
    std::function<edge(graph_builder&, const shape&, dtype, std::source_location where)>;

namespace initializers {

TROUPE_API initializer constant(double value);
TROUPE_API initializer zeros();
TROUPE_API initializer ones();

TROUPE_API initializer uniform(double low, double high, int64_t seed = 0);
TROUPE_API initializer normal(double deviation, double mean = 0, int64_t seed = 0);
/// Values beyond two deviations are redrawn.
TROUPE_API initializer truncated_normal(double deviation, double mean = 0, int64_t seed = 0);

// These keep the scale of values, or of gradients, about the same from layer to layer.
TROUPE_API initializer
glorot_uniform(int64_t seed = 0); ///< for tanh and the like (Glorot and Bengio 2010)
TROUPE_API initializer glorot_normal(int64_t seed = 0);
TROUPE_API initializer he_normal(int64_t seed = 0); ///< for relu (He et al. 2015)
TROUPE_API initializer he_uniform(int64_t seed = 0);
TROUPE_API initializer lecun_normal(int64_t seed = 0); ///< for selu (Klambauer et al. 2017)

/// Ones where the last two indices are equal, else zeros. Needs at least two axes.
TROUPE_API initializer identity(double gain = 1);
/// Rows, or columns if there are fewer, are orthonormal times `gain` (Saxe et al. 2014): for
/// recurrent weights. Needs at least two axes; all but the last are treated as one.
TROUPE_API initializer orthogonal(double gain = 1, int64_t seed = 0);

} // namespace initializers
} // namespace troupe
