// Barriers: the components of an element come one by one.
#include "troupe/runtime/state/barrier.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::barrier_op {
namespace {

result<std::unique_ptr<waitable_resource>> make(const node& from_node, std::string name) {
  TROUPE_ASSIGN(auto created,
                barrier::make({.name = std::move(name),
                               .types = from_node.attr<std::vector<dtype>>("component_types"),
                               .shapes = from_node.attr<std::vector<partial_shape>>("shapes"),
                               .capacity = from_node.attr<int64_t>("capacity")}));
  return std::unique_ptr<waitable_resource>{std::move(created)};
}

barrier& as_barrier(waitable_resource& resource) { return static_cast<barrier&>(resource); }

void ask_insert(waitable_resource& resource, question&& request, answers& done) {
  as_barrier(resource).insert_many(request.id, request.inputs.at(0),
                                   std::move(request.inputs.at(1)),
                                   request.origin->attr<int64_t>("component_index"), done);
}

void ask_take(waitable_resource& resource, question&& request, answers& done) {
  const auto& count = request.inputs.at(0);
  if (count.type() != dtype::i32 || count.elements() != 1) {
    done.push_back({request.id, invalid("num_elements must be one i32, got ", count)});
    return;
  }
  as_barrier(resource).take_many(
      request.id,
      {.count = *count.data<int32_t>(),
       .allow_small_batch = request.origin->attr<bool>("allow_small_batch"),
       .return_on_failure = !request.origin->attr<bool>("drop_if_step_fails")},
      done);
}

void ask_close(waitable_resource& resource, question&& request, answers& done) {
  as_barrier(resource).close(request.origin->attr<bool>("cancel_pending_enqueues"), done);
  done.push_back({request.id, {}});
}

void ask_ready(waitable_resource& resource, question&& request, answers& done) {
  done.push_back(
      {request.id, {}, {tensor::scalar(static_cast<int32_t>(as_barrier(resource).ready()))}});
}

void ask_incomplete(waitable_resource& resource, question&& request, answers& done) {
  auto count = static_cast<int32_t>(as_barrier(resource).incomplete());
  done.push_back({request.id, {}, {tensor::scalar(count)}});
}

result<shapes> infer_insert(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 1));
  if (at.input(2).rank() == 0)
    return at.invalid("values must have one slice for each key, got a scalar");
  return shapes{};
}

result<shapes> infer_take(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  shapes inferred{partial_shape::of_rank(1), partial_shape::of_rank(1)};
  inferred.resize(static_cast<size_t>(at.outputs()));
  auto* from = at.resource(0);
  if (!from || !from->op().make_waitable_resource || from->op().state_kind != resource::barrier)
    return inferred;
  const auto& dims = from->attr<shapes>("shapes");
  for (size_t i = 0; i < dims.size() && i + 2 < inferred.size(); ++i)
    if (dims[i].has_rank()) {
      std::vector<int64_t> extents{unknown_extent};
      extents.insert(extents.end(), dims[i].extents().begin(), dims[i].extents().end());
      inferred[i + 2] = partial_shape{std::move(extents)};
    }
  return inferred;
}

} // namespace

extern constexpr op_def make_barrier{
    .name = "Barrier",
    .doc = "Holds elements whose components come one by one, each under the element's key.\n\n"
           "An element comes out when it is complete, in the order in which the first components "
           "came. Lives in the named container of its task, under shared_name or else the node's "
           "name. An insertion waits while there are `capacity` complete elements (no limit for a "
           "negative one).",
    .outputs = {ref("handle", "string", resource::barrier)},
    .attrs = {{"component_types", attr_kind::types},
              {"shapes", attr_kind::shapes, true},
              {"capacity", -1},
              {"container", ""},
              {"shared_name", ""}},
    .effects = effect::stateful,
    .state_kind = resource::barrier,
    .make_waitable_resource = make,
    .infer = infer::scalar,
    .no_gradient = "barriers do not carry gradients",
    .example = R"(
barrier1 = Barrier component_types=[f32, i32] shapes=[[], []]
left = BarrierInsertMany(barrier1, string["y"], f32[2]) component_index=0
right = BarrierInsertMany(barrier1, string["y"], i32[20]) component_index=1
get = BarrierTakeMany(barrier1, i32(1)) component_types=[f32, i32]
target left
run
target right
run
fetch get:1 = string["y"]
fetch get:2 = f32[2]
fetch get:3 = i32[20]
)",
};

extern constexpr op_def barrier_insert_many{
    .name = "BarrierInsertMany",
    .doc = "Sets one component of the elements of these keys, a slice of `values` for each.\n\n"
           "All or nothing: fails where a key has that component, and, with cancelled, where the "
           "barrier is closed and a key is new. A positive timeout_ms bounds the wait.",
    .inputs = {ref("handle", "string", resource::barrier), {"keys", "string"}, {"values", "T"}},
    .attrs = {{"T", any_type}, {"component_index", attr_kind::integer}, {"timeout_ms", -1}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_insert,
    .infer = infer_insert,
    .no_gradient = "barriers do not carry gradients",
    .example = R"(
barrier2 = Barrier component_types=[f32]
once = BarrierInsertMany(barrier2, string["x"], f32[1]) component_index=0
ready = BarrierReadySize(barrier2)
target once
run
fetch ready = i32(1)
)",
};

extern constexpr op_def barrier_take_many{
    .name = "BarrierTakeMany",
    .doc =
        "Takes complete elements out of a barrier: which insertions brought their keys, the "
        "keys, and each component stacked along a new first axis.\n\n"
        "Insertions are counted from -2^63. Elements come in the order of their first components. "
        "Waits until there are num_elements. When the barrier is closed and no more can become "
        "complete, fails with out_of_range, or takes fewer with allow_small_batch. The elements "
        "go back if the step fails later, unless drop_if_step_fails. A positive timeout_ms "
        "bounds the wait.",
    .inputs = {ref("handle", "string", resource::barrier), on_host("num_elements", "i32")},
    .outputs = {{"indices", "i64"}, {"keys", "string"}, {"values", "component_types"}},
    .attrs = {{"component_types", attr_kind::types},
              {"allow_small_batch", false},
              {"timeout_ms", -1},
              {"drop_if_step_fails", false}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_take,
    .returns_answer_on_failure = true,
    .infer = infer_take,
    .no_gradient = "barriers do not carry gradients",
    .example = R"(
barrier3 = Barrier component_types=[f32] shapes=[[]]
put = BarrierInsertMany(barrier3, string["x", "y"], f32[1, 2]) component_index=0
close = BarrierClose(barrier3)
get = BarrierTakeMany(barrier3, i32(3)) component_types=[f32] allow_small_batch=true
target put
run
target close
run
fetch get:1 = string["x", "y"]
fetch get:2 = f32[1, 2]
)",
};

extern constexpr op_def barrier_close{
    .name = "BarrierClose",
    .doc =
        "Closes a barrier: new keys are refused from now on.\n\n"
        "Incomplete elements can still be completed, unless cancel_pending_enqueues, which drops "
        "them.",
    .inputs = {ref("handle", "string", resource::barrier)},
    .attrs = {{"cancel_pending_enqueues", false}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_close,
    .infer = infer::nothing,
    .no_gradient = "barriers do not carry gradients",
    .example = R"(
barrier4 = Barrier component_types=[f32]
close = BarrierClose(barrier4)
late = BarrierInsertMany(barrier4, string["x"], f32[1]) component_index=0
target close
run
target late
error cancelled "closed"
)",
};

extern constexpr op_def barrier_ready_size{
    .name = "BarrierReadySize",
    .doc = "Counts the complete elements of a barrier at this moment.",
    .inputs = {ref("handle", "string", resource::barrier)},
    .outputs = {{"size", "i32"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_ready,
    .infer = infer::scalar,
    .no_gradient = "its output is a count",
    .example = R"(
barrier5 = Barrier component_types=[f32]
size = BarrierReadySize(barrier5)
fetch size = i32(0)
)",
};

extern constexpr op_def barrier_incomplete_size{
    .name = "BarrierIncompleteSize",
    .doc = "Counts the elements of a barrier that lack a component at this moment.",
    .inputs = {ref("handle", "string", resource::barrier)},
    .outputs = {{"size", "i32"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_incomplete,
    .infer = infer::scalar,
    .no_gradient = "its output is a count",
    .example = R"(
barrier6 = Barrier component_types=[f32, f32]
put = BarrierInsertMany(barrier6, string["x"], f32[1]) component_index=1
size = BarrierIncompleteSize(barrier6)
target put
run
fetch size = i32(1)
)",
};

} // namespace troupe::ops::barrier_op
