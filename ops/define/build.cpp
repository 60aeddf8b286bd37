#include "troupe/ops/define/build.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

tensor scalar_of(dtype type, double value) {
  switch (type) {
    case dtype::boolean: return tensor::scalar(value != 0);
    case dtype::u8: return tensor::scalar(static_cast<uint8_t>(value));
    case dtype::u16: return tensor::scalar(static_cast<uint16_t>(value));
    case dtype::u32: return tensor::scalar(static_cast<uint32_t>(value));
    case dtype::u64: return tensor::scalar(static_cast<uint64_t>(value));
    case dtype::i8: return tensor::scalar(static_cast<int8_t>(value));
    case dtype::i16: return tensor::scalar(static_cast<int16_t>(value));
    case dtype::i32: return tensor::scalar(static_cast<int32_t>(value));
    case dtype::i64: return tensor::scalar(static_cast<int64_t>(value));
    case dtype::f16: return tensor::scalar(float16{static_cast<float>(value)});
    case dtype::bf16: return tensor::scalar(bfloat16{static_cast<float>(value)});
    case dtype::f32: return tensor::scalar(static_cast<float>(value));
    case dtype::f64: return tensor::scalar(value);
    case dtype::c64: return tensor::scalar(std::complex<float>{static_cast<float>(value)});
    case dtype::c128: return tensor::scalar(std::complex<double>{value});
    case dtype::none:
    case dtype::variant:
    case dtype::string: break;
  }
  return {};
}

struct summed_axes {
  std::vector<int64_t> added;     // leading axes that x does not have
  std::vector<int64_t> stretched; // axes where x has extent 1
};

// The axes of the joint shape over which the gradient is summed; nullopt where they depend on
// extents that are known only in a run.
std::optional<summed_axes> axes_to_sum(const partial_shape& x, const partial_shape& other) {
  if (!x.has_rank() || !other.has_rank())
    return std::nullopt;
  summed_axes summed;
  auto rank = std::max(x.rank(), other.rank());
  for (int axis = 0; axis < rank; ++axis) {
    auto in_x = axis - (rank - x.rank()), in_other = axis - (rank - other.rank());
    auto other_extent = in_other < 0 ? 1 : other[in_other];
    if (in_x < 0)
      summed.added.push_back(axis);
    else if (x[in_x] == 1 && other_extent != 1)
      summed.stretched.push_back(axis); // summing an axis that turns out to be 1 changes nothing
    else if (x[in_x] == unknown_extent && other_extent != 1)
      return std::nullopt;
  }
  return summed;
}

} // namespace

edge build(std::string op, std::vector<edge> inputs, attr_map attrs, int output) {
  if (inputs.empty() || !std::ranges::all_of(inputs, [](const edge& in) { return bool(in); }))
    return {};
  auto& in = inputs.front().node->graph();
  auto created = in.add_or_record_error(
      {.op = std::move(op), .inputs = std::move(inputs), .attrs = std::move(attrs)});
  return created ? edge{created.node, output} : edge{};
}

edge operator+(edge a, edge b) { return build("Add", {a, b}); }
edge operator-(edge a, edge b) { return build("Sub", {a, b}); }
edge operator*(edge a, edge b) { return build("Mul", {a, b}); }
edge operator/(edge a, edge b) { return build("Div", {a, b}); }
edge operator-(edge a) { return build("Neg", {a}); }

edge constant_like(edge like, tensor value) {
  if (!like)
    return {};
  auto type = value.type();
  return like.node->graph().add_or_record_error(
      {.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}});
}

edge scalar_like(edge like, double value) {
  return like ? constant_like(like, scalar_of(like.type(), value)) : edge{};
}

edge integers_like(edge like, std::vector<int64_t> values) {
  return constant_like(like, tensor::vector(values));
}

edge zeros_of(edge x) { return build("ZerosLike", {x}); }

edge conjugate(edge x) { return x && complex_types.contains(x.type()) ? build("Conj", {x}) : x; }

edge cast_to(edge x, dtype type) {
  return x && x.type() != type ? build("Cast", {x}, {{"DstT", type}}) : x;
}

edge sum_over(edge x, std::vector<int64_t> axes, bool keep_dims) {
  if (axes.empty())
    return x;
  return build("Sum", {x, integers_like(x, std::move(axes))}, {{"keep_dims", keep_dims}});
}

edge sum_last(edge x) { return sum_over(x, {-1}, true); }

edge reshaped(edge x, edge dims) { return build("Reshape", {x, dims}); }

edge shape_of(edge x) {
  if (!x || !x.dims().fully_known())
    return build("Shape", {x}, {{"out_type", dtype::i64}});
  auto extents = x.dims().extents();
  return integers_like(x, {extents.begin(), extents.end()});
}

edge unbroadcast(edge gradient, edge x, edge other) {
  if (!gradient || !x || !other)
    return {};
  const auto& dims = x.dims();
  if (is_same_edge(x, other) || (dims.fully_known() && dims == gradient.dims()))
    return gradient;
  auto axes = axes_to_sum(dims, other.dims());
  if (!axes) {
    auto shape_x = shape_of(x);
    auto reduced = build("BroadcastGradientArgs", {shape_x, shape_of(other)});
    return reshaped(build("Sum", {gradient, reduced}), shape_x);
  }
  if (axes->stretched.empty())
    return sum_over(gradient, axes->added);
  if (axes->added.empty())
    return sum_over(gradient, axes->stretched, true);
  auto added = static_cast<int64_t>(axes->added.size());
  if (!dims.fully_known()) { // without extents to reshape to: first drop axes, then sum the kept
                             // ones
    for (auto& axis : axes->stretched)
      axis -= added;
    return sum_over(sum_over(gradient, axes->added), axes->stretched, true);
  }
  axes->added.insert(axes->added.end(), axes->stretched.begin(), axes->stretched.end());
  return reshaped(sum_over(gradient, axes->added), shape_of(x));
}

} // namespace troupe::ops
