// Initial values of variables.
#pragma once
#include "troupe/api/graph_builder.hpp"

#include <functional>

namespace troupe {

/// Makes the initial value of a variable of that shape and type. For weights, the last extent
/// counts outputs, the last but one inputs, and all before are the extents of a filter's window.
/// Random ones draw other numbers in each session, unless they are given a seed, or the graph is
/// (set_random_seed()); two variables of one own seed and shape begin alike.
using initializer =
    std::function<edge(graph_builder&, const shape&, dtype, std::source_location where)>;

namespace initializers {

initializer constant(double value);
initializer zeros();
initializer ones();

initializer uniform(double low, double high, int64_t seed = 0);
initializer normal(double deviation, double mean = 0, int64_t seed = 0);
/// Drawn again where beyond two deviations.
initializer truncated_normal(double deviation, double mean = 0, int64_t seed = 0);

// Keep the size of values, or of gradients, about the same from layer to layer.
initializer glorot_uniform(int64_t seed = 0); ///< for tanh and the like (Glorot and Bengio 2010)
initializer glorot_normal(int64_t seed = 0);
initializer he_normal(int64_t seed = 0); ///< for relu (He et al. 2015)
initializer he_uniform(int64_t seed = 0);
initializer lecun_normal(int64_t seed = 0); ///< for selu (Klambauer et al. 2017)

/// Ones where the last two indices are equal; needs at least two axes.
initializer identity(double gain = 1);
/// Rows, or columns if there are fewer, are orthonormal times `gain` (Saxe et al. 2014): for
/// recurrent weights. Needs at least two axes; all but the last count as one.
initializer orthogonal(double gain = 1, int64_t seed = 0);

} // namespace initializers
} // namespace troupe
