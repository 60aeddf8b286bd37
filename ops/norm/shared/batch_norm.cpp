#include "troupe/ops/norm/shared/batch_norm.hpp"

#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/data_format.hpp"
#include "troupe/runtime/autodiff/gradient.hpp"

namespace troupe::ops {
namespace {

struct layout {
  bool channels_first;
  int rank;
  int channel_axis() const { return channels_first ? 1 : rank - 1; }
};

template <class At>
result<layout> layout_of(const At& at) {
  const auto& format = at.template attr<std::string>("data_format");
  TROUPE_ASSIGN(auto first, channels_come_first(format));
  return layout{first, static_cast<int>(format.size())};
}

result<partial_shape> channels_of(const infer_context& at, int i, int64_t channels) {
  TROUPE_ASSIGN(auto dims, at.of_rank(i, 1));
  return merge(dims, partial_shape{channels});
}

/// Builds formulas over the channels of a tensor.
class channels {
public:
  channels(edge x, const layout& form, dtype type) : x_(x), form_(form), type_(type) {}

  /// A vector with one element per channel, reshaped to broadcast to the tensor.
  edge spread(edge vector) const {
    if (!form_.channels_first)
      return vector;
    std::vector<int64_t> dims(static_cast<size_t>(form_.rank - 1), 1);
    dims[0] = -1;
    return reshaped(vector, integers_like(vector, dims));
  }
  edge sum(edge tensor) const {
    std::vector<int64_t> axes;
    for (int i = 0; i < form_.rank; ++i)
      if (i != form_.channel_axis())
        axes.push_back(i);
    return sum_over(tensor, axes);
  }
  /// The number of elements per channel.
  edge count(edge vector) const {
    auto size = [&](edge operand) {
      return cast_to(build("Size", {operand}, {{"out_type", dtype::i64}}), type_);
    };
    return size(x_) / size(vector);
  }

private:
  edge x_;
  layout form_;
  dtype type_;
};

edge plus(edge a, edge b) { return !a ? b : !b ? a : a + b; }

} // namespace

result<shapes> infer_batch_norm(const infer_context& at) {
  TROUPE_ASSIGN(auto form, layout_of(at));
  TROUPE_ASSIGN(auto x, at.of_rank(0, form.rank));
  auto count = x[form.channel_axis()];
  for (int i : {1, 2}) {
    TROUPE_ASSIGN(auto dims, channels_of(at, i, count));
    count = dims[0];
  }
  // Running averages may be omitted where they are not used.
  auto uses_running_averages =
      !at.attr<bool>("is_training") || at.attr<double>("exponential_avg_factor") != 1;
  for (int i : {3, 4}) {
    TROUPE_ASSIGN(auto dims, at.of_rank(i, 1));
    if (uses_running_averages || dims[0] > 0) {
      TROUPE_TRY(channels_of(at, i, count).status());
    }
  }
  x.set(form.channel_axis(), count);
  shapes inferred(static_cast<size_t>(at.outputs()), partial_shape{count});
  inferred[0] = x;
  if (inferred.size() > 5)
    inferred[5] = partial_shape{shape{}};
  return inferred;
}

result<shapes> infer_batch_norm_gradient(const infer_context& at) {
  TROUPE_ASSIGN(auto form, layout_of(at));
  TROUPE_ASSIGN(auto joint, merge(at.input(0), at.input(1)));
  TROUPE_ASSIGN(auto x, merge(joint, partial_shape::of_rank(form.rank)));
  auto count = x[form.channel_axis()];
  for (int i : {2, 3, 4}) {
    TROUPE_ASSIGN(auto dims, channels_of(at, i, count));
    count = dims[0];
  }
  x.set(form.channel_axis(), count);
  return shapes{x, {count}, {count}, {0}, {0}};
}

edges batch_norm_gradient(gradient_context& at, std::string op) {
  auto form = layout_of(at);
  if (!form)
    return at.fail(form.status().message());
  auto training = at.attr<bool>("is_training");
  auto factor = at.attr<double>("exponential_avg_factor");
  auto epsilon = at.attr<double>("epsilon");
  auto x = at.input(0), scale = at.input(1), dy = at.output_gradient(0);
  auto type = scale.type(), inner = type == dtype::f64 ? type : dtype::f32;
  auto mean = training ? at.output(3) : at.input(3);
  auto variance = training ? at.output(4) : at.input(4);
  auto versioned = op != "FusedBatchNormGrad";
  std::vector<edge> inputs{dy, x, versioned ? cast_to(scale, dtype::f32) : scale,
                           cast_to(mean, inner), cast_to(variance, inner)};
  if (op == "FusedBatchNormGradV3")
    inputs.push_back(cast_to(at.output(5), inner));
  auto backward = at.op(std::move(op), std::move(inputs),
                        {{"epsilon", epsilon},
                         {"data_format", at.attr<std::string>("data_format")},
                         {"is_training", training}});
  if (!backward)
    return edges(5);
  auto dx = backward, dscale = cast_to({backward.node, 1}, type),
       doffset = cast_to({backward.node, 2}, type);
  auto weighted_gradient = [&](int i, double weight) {
    if (!at.has_output_gradient(i) || weight == 0)
      return edge{};
    auto dz = at.output_gradient(i);
    return weight == 1 ? dz : dz * scalar_like(dz, weight);
  };
  channels over_channels{x, *form, type};
  if (!training) { // mean and variance are inputs, and copied to the last outputs
    auto root = build("Rsqrt", {variance + scalar_like(variance, epsilon)});
    auto half = scalar_like(scale, -0.5);
    auto dmean = -(doffset * scale * root);
    auto dvariance = dscale * scale * root * root * half;
    for (int i : {1, 3})
      dmean = plus(dmean, weighted_gradient(i, 1));
    for (int i : {2, 4})
      dvariance = plus(dvariance, weighted_gradient(i, 1));
    return {dx, dscale, doffset, dmean, dvariance};
  }
  auto count = over_channels.count(scale), one = scalar_like(scale, 1);
  auto dvariance = weighted_gradient(4, 1);
  if (auto unbiased = weighted_gradient(2, factor))
    dvariance = plus(dvariance, unbiased * (count / build("Maximum", {count - one, one})));
  if (auto dmean = plus(weighted_gradient(1, factor), weighted_gradient(3, 1)))
    dx = dx + cast_to(zeros_of(cast_to(x, type)) + over_channels.spread(dmean / count), x.type());
  if (dvariance) {
    auto slope = over_channels.spread(dvariance * scalar_like(scale, 2) / count);
    dx = dx + cast_to((cast_to(x, type) - over_channels.spread(mean)) * slope, x.type());
  }
  return {dx, dscale, doffset, weighted_gradient(1, 1 - factor), weighted_gradient(2, 1 - factor)};
}

edges batch_norm_second_gradient(gradient_context& at) {
  auto form = layout_of(at);
  if (!form)
    return at.fail(form.status().message());
  auto type = at.input(3).type(); // the type of the sums
  // Identity separates this from the graph before the inputs, which must not be differentiated
  // here.
  std::vector<edge> inputs;
  for (int i = 0; i < 5; ++i)
    inputs.push_back(build("Identity", {at.input(i)}));
  auto dy = cast_to(inputs[0], type), x = cast_to(inputs[1], type),
       scale = cast_to(inputs[2], type);
  auto mean = inputs[3], variance = inputs[4];
  channels over_channels{at.input(1), *form, type};
  auto inverse = build("Rsqrt", {variance + scalar_like(variance, at.attr<double>("epsilon"))});
  auto centred = x - over_channels.spread(mean);
  auto sum = over_channels.sum(dy), weighed = over_channels.sum(dy * centred);
  auto dx = dy;
  if (at.attr<bool>("is_training")) {
    auto count = over_channels.count(at.input(2));
    dx = dx - over_channels.spread(sum / count) -
         centred * over_channels.spread(weighed * inverse * inverse / count);
  }
  dx = dx * over_channels.spread(scale * inverse);
  auto second_gradients =
      gradients({cast_to(dx, at.input(1).type()), weighed * inverse, sum}, inputs,
                {at.output_gradient(0), at.output_gradient(1), at.output_gradient(2)});
  if (!second_gradients)
    return at.fail(second_gradients.status().message());
  second_gradients->resize(static_cast<size_t>(at.inputs()));
  return *second_gradients;
}

} // namespace troupe::ops
