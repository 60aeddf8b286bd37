// Every gradient agrees with central differences.
#include "tests/ops/every_op.hpp"
#include "troupe/runtime/autodiff/gradient.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::test::op_gradient_test {

namespace {

// Samples whose values must stay as in the example: labels that are probabilities.
constexpr std::string_view exact[] = {"SoftmaxCrossEntropyWithLogits"};

// Functions of reals that are defined for positive samples only.
constexpr std::string_view positive[] = {"Pow"};

// Outputs that carry gradients, where the others only serve the gradient itself.
constexpr struct {
  std::string_view op;
  unsigned outputs; // bit set
} differentiable[] = {
    {"LSTMBlockCell", 1u << 1 | 1u << 6},
    {"BlockLSTM", 1u << 1 | 1u << 6},
    {"BlockLSTMV2", 1u << 1 | 1u << 6},
    {"GRUBlockCell", 1u << 3},
    {"CTCLoss", 1u << 0},
};

bool carries_gradient(const op_def& op, int output) {
  for (const auto& listed : differentiable)
    if (listed.op == op.name)
      return listed.outputs >> output & 1;
  return true;
}

bool among(std::span<const std::string_view> names, const op_sample& sample) {
  return std::ranges::find(names, sample.op->name) != names.end();
}

// Moves values away from where a function has a corner or two elements tie.
tensor jittered(const tensor& from, bool absolute) {
  auto to = *from.clone();
  auto values = to.values<double>();
  for (auto& value : values)
    value = absolute ? std::abs(value) : value;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] += 0.013 * static_cast<double>(1 + (i * 5) % 11);
  return to;
}

// The sample with f64 for each type attribute that allows it.
op_sample in_double(op_sample sample) {
  for (const auto& attr : sample.op->attrs)
    if (attr.kind == attr_kind::type && attr.allowed.contains(dtype::f64))
      sample = with_type(sample, attr.name, dtype::f64);
  if (!among(exact, sample))
    for (auto& input : sample.inputs)
      if (input.type() == dtype::f64)
        input = jittered(input, among(positive, sample));
  return sample;
}

tensor weights_like(const tensor& like) {
  auto weights = *tensor::make(dtype::f64, like.dims());
  auto values = weights.values<double>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 0.5 + 0.1 * static_cast<double>((i * 3) % 7);
  return weights;
}

double weighted_sum(const std::vector<tensor>& ys, const std::vector<tensor>& weights) {
  double sum = 0;
  for (size_t k = 0; k < ys.size(); ++k)
    for (size_t i = 0; i < ys[k].values<double>().size(); ++i)
      sum += ys[k].values<double>()[i] * weights[k].values<double>()[i];
  return sum;
}

class comparison {
public:
  comparison(rebuilt& tested, std::vector<edge> ys) : tested_(tested), ys_(std::move(ys)) {}

  status run(failure_list& errors) {
    evaluator graph_evaluator{*tested_.owned_graph, small_device()};
    for (const auto& [variable, value] : tested_.variables)
      TROUPE_TRY(graph_evaluator.variable_of(*variable).assign(value));
    TROUPE_ASSIGN(auto values, graph_evaluator.run(tested_.feeds, ys_));
    std::vector<edge> weight_edges;
    for (const auto& y : values) {
      weights_.push_back(weights_like(y));
      TROUPE_ASSIGN(auto* added, tested_.owned_graph->add({.op = "Const",
                                                           .attrs = {{"value", weights_.back()},
                                                                     {"dtype", dtype::f64}}}));
      weight_edges.push_back({added, 0});
    }
    std::vector<edge> xs;
    for (const auto& [to, value] : tested_.feeds)
      if (value.type() == dtype::f64)
        xs.push_back(to);
    for (const auto& [variable, value] : tested_.variables)
      if (value.type() == dtype::f64)
        xs.push_back({variable, 0});
    if (xs.empty())
      return failure(error_kind::internal, "no input of the sample is differentiable");
    TROUPE_ASSIGN(auto gradient_edges, gradients(ys_, xs, weight_edges));
    for (size_t i = 0; i < xs.size(); ++i) {
      tensor analytic;
      if (gradient_edges[i]) {
        TROUPE_ASSIGN(auto fetched, graph_evaluator.run(tested_.feeds, {gradient_edges[i]}));
        analytic = fetched[0];
      }
      TROUPE_TRY(compare(graph_evaluator, xs[i], analytic, errors));
    }
    return {};
  }

private:
  status compare(evaluator& graph_evaluator, edge x, const tensor& analytic, failure_list& errors) {
    auto feed = std::ranges::find_if(tested_.feeds, [&](const evaluator::feed& candidate) {
      return is_same_edge(candidate.first, x);
    });
    auto is_fed = feed != tested_.feeds.end();
    auto original = is_fed ? feed->second : *graph_evaluator.variable_of(*x.node).read();
    auto set_value = [&](tensor value) -> status {
      if (!is_fed)
        return graph_evaluator.variable_of(*x.node).assign(std::move(value));
      feed->second = std::move(value);
      return {};
    };
    if (!analytic.empty() && !(analytic.dims() == original.dims()))
      errors.push_back(concat("the gradient of '", x, "' has shape ", analytic.dims(), ", must be ",
                              original.dims()));
    else
      for (size_t i = 0; i < original.values<double>().size(); ++i) {
        auto step = 1e-5 * std::max(1.0, std::abs(original.values<double>()[i]));
        double ends[2];
        for (int side : {0, 1}) {
          auto moved = *original.clone();
          moved.values<double>()[i] += side ? step : -step;
          TROUPE_TRY(set_value(std::move(moved)));
          TROUPE_ASSIGN(auto values, graph_evaluator.run(tested_.feeds, ys_));
          ends[side] = weighted_sum(values, weights_);
        }
        TROUPE_TRY(set_value(original));
        auto numeric = (ends[1] - ends[0]) / (2 * step);
        auto actual = analytic.empty() ? 0.0 : analytic.values<double>()[i];
        auto rounding = 1e-15 * std::max(std::abs(ends[0]), std::abs(ends[1])) / step;
        if (!(std::abs(actual - numeric) <= rounding + 1e-6 * std::max(1.0, std::abs(numeric)))) {
          errors.push_back(concat("d/d'", x, "'[", i, "] is ", actual, ", differences give ",
                                  numeric, " at ", to_string(original)));
          break;
        }
      }
    return {};
  }

  rebuilt& tested_;
  std::vector<edge> ys_;
  std::vector<tensor> weights_;
};

// Differentiates all outputs together, and each alone, so that some gradients may be absent.
void check_sample(const op_sample& sample, bool known, failure_list& errors) {
  for (int only = -1; only < 8; ++only) {
    auto constant = std::vector<bool>(sample.inputs.size());
    for (size_t i = 0; i < constant.size(); ++i)
      constant[i] = known && sample.inputs[i].type() != dtype::f64;
    auto built = rebuild(library(), sample, known, constant);
    if (!built) {
      errors.push_back(concat(built.status()));
      return;
    }
    std::vector<edge> ys;
    for (int i = 0; i < built->sample_node->outputs(); ++i)
      if (built->sample_node->output_type(i) == dtype::f64 && (only < 0 || only == i) &&
          carries_gradient(*sample.op, i))
        ys.push_back(built->sample_node->output(i));
    if (ys.empty() || (only >= 0 && built->sample_node->outputs() == 1)) {
      if (only < 0)
        errors.push_back("no output of the sample is differentiable");
      continue;
    }
    auto old_count = errors.size();
    if (auto outcome = comparison{*built, ys}.run(errors); !outcome)
      errors.push_back(concat(outcome));
    for (auto i = old_count; i < errors.size(); ++i)
      errors[i] += concat(known ? " (shapes known" : " (nothing known", ", output ", only, ')');
    if (!errors.empty())
      return;
  }
}

failure_list check(const op_def& op, bool known) {
  failure_list errors;
  if (!op.gradient || op.inputs.empty() || needs_runtime(library(), op))
    return errors;
  auto shown = run_example(library(), op, small_device(), placeholders::as_written);
  if (shown.samples.empty())
    errors.push_back("no sample to check its gradient with");
  for (const auto& sample : shown.samples)
    check_sample(in_double(sample), known, errors);
  return errors;
}

// z = op(x + i y, ...) for each op that maps complex elements to complex elements, and the real
// functions of z.
failure_list check_complex(const op_def& op) {
  auto maps_elements = has(op.effects, effect::elementwise) && !op.inputs.empty() &&
                       op.outputs[0].type == op.inputs[0].type;
  auto* type = maps_elements ? op.find_attr(op.inputs[0].type) : nullptr;
  if (!op.gradient || !type || !type->allowed.contains(dtype::c128))
    return {};
  const std::vector<double> samples[] = {{0.3, -0.7}, {0.4, 0.2}, {1.1, -0.6}, {-0.5, 0.8}};
  rebuilt tested;
  tested.owned_graph = std::make_unique<graph>(library());
  size_t next = 0;
  auto add = [&](std::string name, std::vector<edge> inputs, attr_map attrs = {}) -> edge {
    auto added = tested.owned_graph->add(
        {.op = std::move(name), .inputs = std::move(inputs), .attrs = attrs});
    REQUIRE(added);
    return {*added, 0};
  };
  auto part = [&] {
    auto x = add("Placeholder", {}, {{"dtype", dtype::f64}, {"shape", partial_shape{shape{2}}}});
    tested.feeds.emplace_back(x, tensor::vector(samples[next++]));
    return x;
  };
  std::vector<edge> operands, ys;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    auto real = part(), imag = part();
    operands.push_back(add("Complex", {real, imag}, {{"Tout", dtype::c128}}));
  }
  auto z = add(std::string{op.name}, operands);
  for (auto* real : {"Real", "Imag", "ComplexAbs", "Angle"})
    ys.push_back(add(real, {z}, {{"Tout", dtype::f64}}));
  failure_list errors;
  if (auto outcome = comparison{tested, ys}.run(errors); !outcome)
    errors.push_back(concat(outcome));
  return errors;
}

constexpr exception nowhere[] = {
    {"Angle", "takes complex numbers only"},
    {"Betainc", "the derivatives by a and b are not known"},
    {"Complex", "gives complex numbers only"},
    {"ComplexAbs", "takes complex numbers only"},
    {"Conj", "takes complex numbers only"},
    {"CropAndResize", "its output is f32, whatever its input"},
    {"ResizeBicubic", "its output is f32, whatever its input"},
    {"ResizeBilinear", "its output is f32, whatever its input"},
    {"FakeQuantWithMinMaxArgs", "pretends that it does not round, on purpose"},
    {"FakeQuantWithMinMaxVars", "pretends that it does not round, on purpose"},
    {"QuantizeAndDequantizeV2", "pretends that it does not round, on purpose"},
    {"QuantizeAndDequantizeV3", "pretends that it does not round, on purpose"},
    {"QuantizeAndDequantizeV4", "pretends that it does not round, on purpose"},
    {"PreventGradient", "fails, on purpose"},
    {"Imag", "takes complex numbers only"},
    {"Polygamma", "the derivative by the order is not known"},
    {"Real", "takes complex numbers only"},
    {"Zeta", "the derivative by x is not known"},
    {"SparseMatMul", "takes no f64, and is a MatMul"},
    {"CTCLossV2", "takes floats only; what it computes is CTCLoss"},
    {"RandomGamma", "draws other numbers for each difference"},
    {"StopGradient", "says that there is none, on purpose"},
    {"OptionalFromValue", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"OptionalGetValue", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListConcat", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListConcatV2", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListFromTensor", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListGather", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListGetItem", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListPopBack", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListPushBack", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListResize", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListScatter", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListScatterIntoExistingList",
     "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListScatterV2", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListSetItem", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListSplit", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorListStack", "a list is no number; tests/graphs/tensorflow/sequences.py"},
    {"TensorArrayConcat", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayConcatV2", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayConcatV3", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayGather", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayGatherV2", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayGatherV3", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayGrad", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayGradV2", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayGradV3", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayGradWithShape", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayPack", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayRead", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayReadV2", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayReadV3", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayScatter", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayScatterV2", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayScatterV3", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArraySplit", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArraySplitV2", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArraySplitV3", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayUnpack", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayWrite", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayWriteV2", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"TensorArrayWriteV3", "a handle is no number; tests/api/tensor_array_test.cpp"},
    {"Case", "functions are no numbers; tests/api/control_flow_gradient_test.cpp"},
    {"If", "functions are no numbers; tests/api/control_flow_gradient_test.cpp"},
    {"PartitionedCall", "functions are no numbers; tests/api/control_flow_gradient_test.cpp"},
    {"StatefulPartitionedCall",
     "functions are no numbers; tests/api/control_flow_gradient_test.cpp"},
    {"StatelessCase", "functions are no numbers; tests/api/control_flow_gradient_test.cpp"},
    {"StatelessIf", "functions are no numbers; tests/api/control_flow_gradient_test.cpp"},
    {"StatelessWhile", "functions are no numbers; tests/api/control_flow_gradient_test.cpp"},
    {"While", "functions are no numbers; tests/api/control_flow_gradient_test.cpp"},
};

std::vector<exception> with_exception(std::span<const exception> listed, exception one) {
  std::vector<exception> exceptions{listed.begin(), listed.end()};
  exceptions.push_back(one);
  return exceptions;
}

} // namespace

TEST_CASE("every op's gradient agrees with central differences") {
  check_every_op([](const op_def& op) { return check(op, true); },
                 {std::begin(nowhere), std::end(nowhere)});
}

TEST_CASE("every op's gradient agrees with central differences if shapes and values are unknown") {
  check_every_op(
      [](const op_def& op) { return check(op, false); },
      with_exception(
          nowhere, {"MatrixSolveLs", "has one formula for tall matrices, another for wide ones"}));
}

TEST_CASE("every op's gradient of complex numbers agrees with central differences") {
  check_every_op(check_complex,
                 {{"Sign", "its gradient is 0, as that of real numbers"},
                  {"SquaredDifference", "takes differences as if they were real, as others do"}});
}

} // namespace troupe::test::op_gradient_test
