// Edges as values in formulas, for gradients: each operator adds a node to the graph of its
// operands.
#pragma once
#include "troupe/runtime/graph/gradient_context.hpp"

namespace troupe::ops {

/// Adds a node to the graph of the first input and returns one of its outputs. The graph records
/// errors. If an input is the empty edge, the result is the empty edge.
edge build(std::string op, std::vector<edge> inputs, attr_map attrs = {}, int output = 0);

edge operator+(edge a, edge b);
edge operator-(edge a, edge b);
edge operator*(edge a, edge b);
edge operator/(edge a, edge b);
edge operator-(edge a);

edge constant_like(edge same_graph, tensor value); ///< a Const in the same graph
edge scalar_like(edge same_type, double value);    ///< a scalar of the same type as `same_type`
edge integers_like(edge same_graph,
                   std::vector<int64_t> values); ///< an i64 vector in the same graph
edge zeros_of(edge x);                           ///< zeros of the type and shape of x
edge conjugate(edge x);                          ///< the complex conjugate: x itself when x is real
edge cast_to(edge x, dtype type);                ///< x itself when it already has the type
edge sum_over(edge x, std::vector<int64_t> axes,
              bool keep_dims = false); ///< sums over constant axes
edge sum_last(edge x);                 ///< sums over the last axis, which stays as extent 1
edge reshaped(edge x, edge dims);      ///< x with the shape that `dims` lists
edge shape_of(edge x);                 ///< the shape of x as i64 vector: Const where it is known

/// Sums a gradient over the axes that broadcasting added or stretched, so that it gets x's shape.
edge unbroadcast(edge gradient, edge x, edge other);

} // namespace troupe::ops
