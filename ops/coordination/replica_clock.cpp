// The clock of replicas of a model: replicas wait at it for the next step, or for slower replicas.
#include "troupe/runtime/state/replica_clock.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::replica_clock_op {
namespace {

result<std::unique_ptr<waitable_resource>> make(const node& from_node, std::string name) {
  return std::unique_ptr<waitable_resource>{
      std::make_unique<replica_clock>(std::move(name), from_node.attr<int64_t>("replicas"))};
}

replica_clock& as_clock(waitable_resource& resource) {
  return static_cast<replica_clock&>(resource);
}

// An input that must be one number; otherwise fails the request.
std::optional<int64_t> number(const question& request, size_t i, std::string_view name,
                              answers& done) {
  const auto& input = request.inputs.at(i);
  if (input.elements() == 1)
    return *input.data<int64_t>();
  done.push_back({request.id, invalid(name, " must be one number, got shape ", input.dims())});
  return std::nullopt;
}

void ask_set(waitable_resource& resource, question&& request, answers& done) {
  if (auto step = number(request, 0, "step", done))
    as_clock(resource).set_step(request.id, *step, done);
}

void ask_await(waitable_resource& resource, question&& request, answers& done) {
  if (auto known = number(request, 0, "known", done))
    as_clock(resource).await_step(request.id, *known, done);
}

void ask_read(waitable_resource& resource, question&& request, answers& done) {
  done.push_back({request.id, {}, {tensor::scalar(as_clock(resource).step())}});
}

void ask_join(waitable_resource& resource, question&& request, answers& done) {
  if (auto replica = number(request, 0, "replica", done))
    as_clock(resource).join(request.id, *replica, done);
}

void ask_leave(waitable_resource& resource, question&& request, answers& done) {
  if (auto replica = number(request, 0, "replica", done))
    as_clock(resource).leave(request.id, *replica, done);
}

void ask_tick(waitable_resource& resource, question&& request, answers& done) {
  auto replica = number(request, 0, "replica", done);
  if (!replica)
    return;
  if (auto lead = number(request, 1, "lead", done))
    as_clock(resource).tick(request.id, *replica, *lead, done);
}

constexpr op_def asking(op_def def) {
  def.effects = effect::stateful | effect::blocking;
  def.infer = def.outputs.empty() ? infer::nothing : infer::scalar;
  def.no_gradient = "clocks do not carry gradients";
  return def;
}

constexpr port clock_port = ref("clock", "string", resource::clock);

} // namespace

extern constexpr op_def replica_clock{
    .name = "ReplicaClock",
    .doc = "Is what replicas of a model wait for: the next step of all, or those that are slow.\n\n"
           "It has a step, none at first, that one sets and others await; and it counts the steps "
           "of each living replica, of at most so many. Lives in the named container of its task, "
           "under shared_name or else the node's name.",
    .outputs = {ref("clock", "string", resource::clock)},
    .attrs = {{"replicas", at_least{1}}, {"container", ""}, {"shared_name", ""}},
    .effects = effect::stateful,
    .state_kind = resource::clock,
    .make_waitable_resource = make,
    .infer = infer::scalar,
    .no_gradient = "clocks do not carry gradients",
    .example = R"(
clock1 = ReplicaClock replicas=2
set = ReplicaClockSet(clock1, i64(5))
step = ReplicaClockAwait(clock1, i64(4))
target set
run
fetch step = i64(5)
)",
};

extern constexpr op_def replica_clock_set = asking({
    .name = "ReplicaClockSet",
    .doc = "Sets the step that all replicas are at: those that await another one go on.\n\n"
           "It may be earlier than the one before, but not negative.",
    .inputs = {clock_port, on_host("step", "i64")},
    .start_operation = ask_set,
    .example = R"(
clock2 = ReplicaClock replicas=1
set = ReplicaClockSet(clock2, i64(3))
step = ReplicaClockRead(clock2)
target set
run
fetch step = i64(3)
)",
});

extern constexpr op_def replica_clock_await = asking({
    .name = "ReplicaClockAwait",
    .doc = "Waits until the step of a clock has been set, to another than the known one; gives it.",
    .inputs = {clock_port, on_host("known", "i64")},
    .outputs = {{"step", "i64"}},
    .start_operation = ask_await,
    .example = R"(
clock3 = ReplicaClock replicas=1
set = ReplicaClockSet(clock3, i64(0))
step = ReplicaClockAwait(clock3, i64(-1))
target set
run
fetch step = i64(0)
)",
});

extern constexpr op_def replica_clock_read = asking({
    .name = "ReplicaClockRead",
    .doc = "Gives the step of a clock, -1 before one was set.",
    .inputs = {clock_port},
    .outputs = {{"step", "i64"}},
    .start_operation = ask_read,
    .example = R"(
clock4 = ReplicaClock replicas=1
step = ReplicaClockRead(clock4)
fetch step = i64(-1)
)",
});

extern constexpr op_def replica_clock_join = asking({
    .name = "ReplicaClockJoin",
    .doc = "Counts a replica among the living, as if it had done as many steps as the slowest of "
           "them.\n\nOne that is there already stays where it is.",
    .inputs = {clock_port, on_host("replica", "i64")},
    .start_operation = ask_join,
    .example = R"(
clock5 = ReplicaClock replicas=2
none = ReplicaClockLeave(clock5, i64(-1))
join = ReplicaClockJoin(clock5, i64(1), ^none)
tick = ReplicaClockTick(clock5, i64(0), i64(1), ^join)
fetch tick = i64(1)
)",
});

extern constexpr op_def replica_clock_leave = asking({
    .name = "ReplicaClockLeave",
    .doc = "Takes a replica out of the living: no other waits for it, and it waits for none.\n\n"
           "-1 takes out all.",
    .inputs = {clock_port, on_host("replica", "i64")},
    .start_operation = ask_leave,
    .example = R"(
clock6 = ReplicaClock replicas=2
join = ReplicaClockJoin(clock6, i64(1))
leave = ReplicaClockLeave(clock6, i64(1))
tick = ReplicaClockTick(clock6, i64(0), i64(0))
target join
run
target leave
run
fetch tick = i64(1)
)",
});

extern constexpr op_def replica_clock_tick = asking({
    .name = "ReplicaClockTick",
    .doc = "Counts a step of a replica, and waits until it is at most `lead` steps ahead of the "
           "slowest living one; gives how many it has done.\n\n"
           "A replica that is not among the living joins first, beside the slowest. A step stays "
           "counted, also if the wait is given up.",
    .inputs = {clock_port, on_host("replica", "i64"), on_host("lead", "i64")},
    .outputs = {{"steps", "i64"}},
    .start_operation = ask_tick,
    .example = R"(
clock7 = ReplicaClock replicas=1
one = ReplicaClockTick(clock7, i64(0), i64(0))
two = ReplicaClockTick(clock7, i64(0), i64(0))
fetch one = i64(1)
run
fetch two = i64(2)
)",
});

} // namespace troupe::ops::replica_clock_op
