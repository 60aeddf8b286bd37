// Accumulators of gradients, at which synchronous training waits.
#include "troupe/runtime/state/accumulator.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::accumulator_op {
namespace {

result<std::unique_ptr<waitable_resource>> make(const node& from_node, std::string name,
                                                bool sparse) {
  const auto& reduction = from_node.attr<std::string>("reduction_type");
  if (reduction != "MEAN" && reduction != "MEAN_OF_ALL" && reduction != "SUM")
    return invalid("reduction_type must be MEAN, MEAN_OF_ALL or SUM, got ", reduction);
  TROUPE_ASSIGN(auto created, accumulator::make({.name = std::move(name),
                                                 .type = from_node.attr<dtype>("dtype"),
                                                 .dims = from_node.attr<partial_shape>("shape"),
                                                 .mean = reduction != "SUM",
                                                 .sparse = sparse,
                                                 .divide_by_total = reduction == "MEAN_OF_ALL"}));
  return std::unique_ptr<waitable_resource>{std::move(created)};
}

result<std::unique_ptr<waitable_resource>> make_dense(const node& from_node, std::string name) {
  return make(from_node, std::move(name), false);
}

result<std::unique_ptr<waitable_resource>> make_sparse(const node& from_node, std::string name) {
  return make(from_node, std::move(name), true);
}

accumulator& as_accumulator(waitable_resource& resource) {
  return static_cast<accumulator&>(resource);
}

// An input that must be one number.
template <class T>
result<int64_t> number(const question& request, size_t i, std::string_view name) {
  const auto& input = request.inputs.at(i);
  if (input.type() != dtype_of<T> || input.elements() != 1)
    return invalid(name, " must be one ", dtype_of<T>, ", got ", input);
  return static_cast<int64_t>(*input.data<T>());
}

void ask_apply(waitable_resource& resource, question&& request, answers& done) {
  if (auto step = number<int64_t>(request, 0, "local_step"))
    as_accumulator(resource).apply(request.id, *step, request.inputs.at(1), done,
                                   request.origin->attr<int64_t>("contributor"));
  else
    done.push_back({request.id, step.status()});
}

void ask_apply_sparse(waitable_resource& resource, question&& request, answers& done) {
  auto step = number<int64_t>(request, 0, "local_step");
  if (!step) {
    done.push_back({request.id, step.status()});
    return;
  }
  sparse_gradient gradient{request.inputs.at(1), request.inputs.at(2), {}};
  if (request.origin->attr<bool>("has_known_shape"))
    gradient.dims = request.inputs.at(3);
  as_accumulator(resource).apply(request.id, *step, gradient, done,
                                 request.origin->attr<int64_t>("contributor"));
}

void ask_take(waitable_resource& resource, question&& request, answers& done) {
  if (auto required = number<int32_t>(request, 0, "num_required"))
    as_accumulator(resource).take(request.id, *required, done);
  else
    done.push_back({request.id, required.status()});
}

void ask_accumulated(waitable_resource& resource, question&& request, answers& done) {
  auto count = static_cast<int32_t>(as_accumulator(resource).accumulated());
  done.push_back({request.id, {}, {tensor::scalar(count)}});
}

void ask_clear(waitable_resource& resource, question&& request, answers& done) {
  as_accumulator(resource).clear(failure(error_kind::cancelled, "accumulator '", resource.name(),
                                         "' was cleared by ", request.origin->description()),
                                 done);
  done.push_back({request.id, {}});
}

void ask_set_step(waitable_resource& resource, question&& request, answers& done) {
  auto step = number<int64_t>(request, 0, "new_global_step");
  if (step)
    as_accumulator(resource).set_global_step(*step);
  done.push_back({request.id, step.status()});
}

result<shapes> infer_take(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  auto* from = at.resource(0);
  if (!from || !from->op().make_waitable_resource || from->op().state_kind != resource::accumulator)
    return shapes{partial_shape{}};
  if (from->attr<dtype>("dtype") != at.output_type(0))
    return at.invalid("accumulator '", from->name(), "' gives ", from->attr<dtype>("dtype"),
                      ", not ", at.output_type(0));
  return shapes{from->attr<partial_shape>("shape")};
}

result<shapes> infer_take_sparse(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  auto rows = partial_shape{};
  if (auto* from = at.resource(0);
      from && from->op().make_waitable_resource && from->op().state_kind == resource::accumulator) {
    rows = from->attr<partial_shape>("shape");
    if (rows.has_rank() && rows.rank() > 0) {
      std::vector<int64_t> extents{rows.extents().begin(), rows.extents().end()};
      extents[0] = unknown_extent;
      rows = partial_shape{std::move(extents)};
    }
  }
  return shapes{partial_shape::of_rank(1), rows, partial_shape::of_rank(1)};
}

} // namespace

extern constexpr op_def conditional_accumulator{
    .name = "ConditionalAccumulator",
    .second_name = "ResourceConditionalAccumulator",
    .doc =
        "Adds up gradients of one variable, until a step takes their mean.\n\n"
        "It has a global step, and drops gradients that were computed for an older one: they "
        "come from a worker that is too slow. Lives in the named container of its task, under "
        "shared_name or else the node's name. reduction_type is MEAN or SUM. (MEAN_OF_ALL, which "
        "TensorFlow does not know, is the same as MEAN here.)",
    .outputs = {ref("handle", "string", resource::accumulator)},
    .attrs = {{"dtype", numbers},
              {"shape", attr_kind::shape, true},
              {"container", ""},
              {"shared_name", ""},
              {"reduction_type", "MEAN"}},
    .effects = effect::stateful,
    .state_kind = resource::accumulator,
    .make_waitable_resource = make_dense,
    .infer = infer::scalar,
    .no_gradient = "accumulators do not carry gradients",
    .example = R"(
sum1 = ConditionalAccumulator dtype=f32 shape=[2]
one = AccumulatorApplyGradient(sum1, i64(99), f32[1, 2])
two = AccumulatorApplyGradient(sum1, i64(99), f32[3, 4])
mean = AccumulatorTakeGradient(sum1, i32(2)) dtype=f32
target one
run
target two
run
fetch mean = f32[2, 3]
)",
};

extern constexpr op_def sparse_conditional_accumulator{
    .name = "SparseConditionalAccumulator",
    .doc = "Adds up sparse gradients of one variable, until a step takes their mean.\n\n"
           "Like ConditionalAccumulator, but a gradient consists of rows and their indices. The "
           "mean of a row is over those gradients that have it; with the reduction_type "
           "MEAN_OF_ALL, which TensorFlow does not know, over all that were taken.",
    .outputs = {ref("handle", "string", resource::accumulator)},
    .attrs = {{"dtype", numbers},
              {"shape", attr_kind::shape, true},
              {"container", ""},
              {"shared_name", ""},
              {"reduction_type", "MEAN"}},
    .effects = effect::stateful,
    .state_kind = resource::accumulator,
    .make_waitable_resource = make_sparse,
    .infer = infer::scalar,
    .no_gradient = "accumulators do not carry gradients",
    .example = R"(
sum2 = SparseConditionalAccumulator dtype=f32 shape=[4, 1]
one = SparseAccumulatorApplyGradient(sum2, i64(99), i64[1, 3], f32[[1], [2]], i64[4, 1]) has_known_shape=true
two = SparseAccumulatorApplyGradient(sum2, i64(99), i64[3], f32[[4]], i64[4, 1]) has_known_shape=true
mean = SparseAccumulatorTakeGradient(sum2, i32(2)) dtype=f32
target one
run
target two
run
fetch mean:0 = i64[1, 3]
fetch mean:1 = f32[[1], [3]]
fetch mean:2 = i64[4, 1]
)",
};

extern constexpr op_def accumulator_apply_gradient{
    .name = "AccumulatorApplyGradient",
    .second_name = "ResourceAccumulatorApplyGradient",
    .doc = "Adds a gradient to an accumulator, unless it was computed for an older global step.\n\n"
           "Of one contributor, if that is not negative, only the first gradient counts until all "
           "are taken: a replica that was restarted may send its again.",
    .inputs = {ref("handle", "string", resource::accumulator),
               on_host("local_step", "i64"),
               {"gradient", "dtype"}},
    .attrs = {{"dtype", numbers}, {"contributor", -1}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_apply,
    .infer = infer::nothing,
    .no_gradient = "accumulators do not carry gradients",
    .example = R"(
sum3 = ConditionalAccumulator dtype=f32 shape=[]
step = AccumulatorSetGlobalStep(sum3, i64(5))
late = AccumulatorApplyGradient(sum3, i64(4), f32(100))
right = AccumulatorApplyGradient(sum3, i64(5), f32(1))
count = AccumulatorNumAccumulated(sum3)
target step
run
target late
run
target right
run
fetch count = i32(1)
)",
};

extern constexpr op_def sparse_accumulator_apply_gradient{
    .name = "SparseAccumulatorApplyGradient",
    .doc = "Adds rows of a gradient to an accumulator, unless it was computed for an older global "
           "step.\n\n"
           "gradient_shape is looked at where has_known_shape is set. contributor is as in "
           "AccumulatorApplyGradient.",
    .inputs = {ref("handle", "string", resource::accumulator),
               on_host("local_step", "i64"),
               on_host("gradient_indices", "i64"),
               {"gradient_values", "dtype"},
               on_host("gradient_shape", "i64")},
    .attrs = {{"dtype", numbers}, {"has_known_shape", attr_kind::boolean}, {"contributor", -1}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_apply_sparse,
    .infer = infer::nothing,
    .no_gradient = "accumulators do not carry gradients",
    .example = R"(
sum4 = SparseConditionalAccumulator dtype=f32 shape=[4]
one = SparseAccumulatorApplyGradient(sum4, i64(0), i64[7], f32[1], i64[4]) has_known_shape=true
target one
error invalid_argument "index 7"
)",
};

extern constexpr op_def accumulator_take_gradient{
    .name = "AccumulatorTakeGradient",
    .second_name = "ResourceAccumulatorTakeGradient",
    .doc = "Waits until enough gradients have been added, gives their mean or sum, and begins the "
           "next global step with none.\n\nWhat is taken does not come back if the step fails.",
    .inputs = {ref("handle", "string", resource::accumulator), on_host("num_required", "i32")},
    .outputs = {{"average", "dtype"}},
    .attrs = {{"dtype", numbers}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_take,
    .infer = infer_take,
    .no_gradient = "accumulators do not carry gradients",
    .example = R"(
sum5 = ConditionalAccumulator dtype=f32 shape=[]
add = AccumulatorApplyGradient(sum5, i64(99), f32(3))
mean = AccumulatorTakeGradient(sum5, i32(1)) dtype=f32
target add
run
fetch mean = f32(3)
)",
};

extern constexpr op_def sparse_accumulator_take_gradient{
    .name = "SparseAccumulatorTakeGradient",
    .doc = "Waits until enough sparse gradients have been added, and gives their indices in rising "
           "order, the mean or sum of each row, and the shape of the whole.",
    .inputs = {ref("handle", "string", resource::accumulator), on_host("num_required", "i32")},
    .outputs = {{"indices", "i64"}, {"values", "dtype"}, {"shape", "i64"}},
    .attrs = {{"dtype", numbers}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_take,
    .infer = infer_take_sparse,
    .no_gradient = "accumulators do not carry gradients",
    .example = R"(
sum6 = SparseConditionalAccumulator dtype=f32 shape=[4]
one = SparseAccumulatorApplyGradient(sum6, i64(99), i64[2], f32[1], i64[4]) has_known_shape=false
mean = SparseAccumulatorTakeGradient(sum6, i32(1)) dtype=f32
target one
run
fetch mean:0 = i64[2]
fetch mean:1 = f32[1]
)",
};

extern constexpr op_def accumulator_num_accumulated{
    .name = "AccumulatorNumAccumulated",
    .second_name = "ResourceAccumulatorNumAccumulated",
    .doc = "Counts the gradients that an accumulator has for its global step.",
    .inputs = {ref("handle", "string", resource::accumulator)},
    .outputs = {{"num_accumulated", "i32"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_accumulated,
    .infer = infer::scalar,
    .no_gradient = "its output is a count",
    .example = R"(
sum7 = ConditionalAccumulator dtype=f32 shape=[]
count = AccumulatorNumAccumulated(sum7)
fetch count = i32(0)
)",
};

extern constexpr op_def accumulator_clear{
    .name = "AccumulatorClear",
    .doc = "Drops the gradients of an accumulator; steps that wait to take from it fail with "
           "`cancelled`.\n\nIts global step stays as it is.",
    .inputs = {ref("handle", "string", resource::accumulator)},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_clear,
    .infer = infer::nothing,
    .no_gradient = "accumulators do not carry gradients",
    .example = R"(
sum9 = ConditionalAccumulator dtype=f32 shape=[]
add = AccumulatorApplyGradient(sum9, i64(0), f32(3))
clear = AccumulatorClear(sum9)
count = AccumulatorNumAccumulated(sum9)
target add
run
target clear
run
fetch count = i32(0)
)",
};

extern constexpr op_def accumulator_set_global_step{
    .name = "AccumulatorSetGlobalStep",
    .second_name = "ResourceAccumulatorSetGlobalStep",
    .doc = "Sets the global step of an accumulator: older gradients are dropped from now on.",
    .inputs = {ref("handle", "string", resource::accumulator), on_host("new_global_step", "i64")},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_set_step,
    .infer = infer::nothing,
    .no_gradient = "accumulators do not carry gradients",
    .example = R"(
sum8 = ConditionalAccumulator dtype=f32 shape=[]
step = AccumulatorSetGlobalStep(sum8, i64(7))
target step
)",
};

} // namespace troupe::ops::accumulator_op
