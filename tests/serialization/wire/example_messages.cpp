#include "tests/serialization/wire/example_messages.hpp"

#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <sstream>

namespace troupe::testing {
namespace {

struct printer {
  std::ostringstream out;

  void all() {}
  template <class T, class... Ts>
  void all(const T& first, const Ts&... rest) {
    one(first);
    out << '|';
    all(rest...);
  }
  template <class T>
  void one(const T& value) {
    out << value;
  }
  void one(const status& value) {
    const auto& of = value.origin();
    out << value;
    all(of.op, of.node, of.task, of.incarnation, of.state_lost);
  }
  void one(const tensor& value) {
    if (value.empty())
      out << "nothing";
    else if (value.elements() > 100 && value.type() != dtype::string)
      out << value.type() << value.dims() << checksum_of(bytes_of(value));
    else
      out << to_string(value, value.elements());
  }
  void one(const registered_partition& value) { all(value.device, value.graph); }
  void one(const indexed_tensor& value) { all(value.index, value.value); }
  void one(const kernel_positions& values) {
    for (const auto& [node, position] : values)
      all(node, position);
  }
  void one(const node_cost& value) { all(value.node, value.nanoseconds); }
  void one(const known_peer& value) { all(value.task, value.incarnation); }
  void one(const device_info& value) {
    all(value.name, value.kind, value.memory_bytes, value.description);
  }
  void one(const state_info& value) {
    all(value.task, value.container, value.kind, value.name, value.holds, value.content,
        value.bytes);
  }
  template <class T>
  void one(const std::vector<T>& values) {
    out << values.size() << ':';
    for (const auto& value : values)
      one(value);
  }

  void operator()(const hello& m) {
    all(m.version, m.software, m.role, m.job, m.task, m.incarnation, m.max_message,
        m.max_tensor_bytes, m.cluster, m.process, m.token_at, m.token[0], m.token[1],
        m.access_token, m.schema, m.build);
  }
  void operator()(const refusal& m) { all(m.why); }
  void operator()(const register_graph& m) {
    all(m.request, m.how.session, m.how.container, m.how.region_per_node, m.partitions,
        m.how.deterministic, m.how.costs, m.how.replay, m.how.incarnation, m.how.peers,
        m.how.positions);
  }
  void operator()(const register_reply& m) { all(m.request, m.handle, m.outcome); }
  void operator()(const deregister_graph& m) { all(m.handle); }
  void operator()(const run_step& m) {
    all(m.request, m.handle, m.step.session, m.step, m.deadline_ms, m.feeds, m.times,
        m.check_numerics, m.incarnation, m.fills, m.retried);
  }
  void operator()(const fill_end& m) { all(m.request, m.done); }
  void operator()(const program_lost& m) { all(m.handle); }
  void operator()(const client_waits& m) { all(m.waits); }
  void operator()(const step_done& m) {
    all(m.request, m.outcome, m.fetches, m.statistics, m.holds, static_cast<int>(m.fill));
  }
  void operator()(const cancel_step& m) { all(m.step.session, m.step, m.why); }
  void operator()(const settle_step& m) { all(m.step.session, m.step, m.request); }
  void operator()(const tensor_push& m) {
    all(m.step.session, m.step, m.key, m.dead, m.value, m.frame, m.iteration);
  }
  void operator()(const pull& m) { all(m.transfer); }
  void operator()(const unwanted& m) { all(m.transfer); }
  void operator()(const withdrawn& m) { all(m.transfer); }
  void operator()(const borrow& m) { all(m.transfer); }
  void operator()(const lent& m) { all(m.transfer, m.address); }
  void operator()(const returned& m) { all(m.transfer); }
  void operator()(const ping& m) { all(m.nonce, m.sent_ns); }
  void operator()(const pong& m) { all(m.nonce); }
  void operator()(const goodbye& m) { all(m.reason); }
  void operator()(const container_reset& m) { all(m.request, m.container); }
  void operator()(const reply& m) { all(m.request, m.outcome); }
  void operator()(const device_list_request& m) { all(m.request); }
  void operator()(const device_list_reply& m) { all(m.request, m.devices); }
  void operator()(const state_list_request& m) { all(m.request); }
  void operator()(const state_list_reply& m) {
    all(m.request, m.list.entries, m.list.left_out, m.outcome);
  }
  void operator()(const inspect_request& m) { all(m.request, m.ref, m.depth, m.only); }
  void operator()(const inspect_reply& m) { all(m.request, m.outcome, m.tree); }
  void operator()(const drain_request& m) { all(m.request); }
  void operator()(const positions_request& m) { all(m.request, m.session, m.go_on_from); }
  void one(const cluster_member& value) {
    all(value.task, value.incarnation, value.address, to_string(value.state), value.changed);
  }
  void one(const list_epoch& value) { all(value.term, value.change); }
  void operator()(const member_changes& m) { all(m.since, m.epoch, m.members, m.coordinator); }
  void operator()(const number_claim& m) { all(m.job, m.task, m.incarnation, m.address, m.holds); }
  void operator()(const probe_request& m) { all(m.task, m.incarnation); }
  void operator()(const probe_answer& m) { all(m.task, m.incarnation, m.reached); }
  void operator()(const vote_request& m) { all(m.term, m.has); }
  void operator()(const vote& m) { all(m.term, m.granted); }
  void operator()(const number_grant& m) { all(m.outcome, m.task, m.incarnation, m.ask); }
  void one(const node_time& value) { all(value.node, value.device, value.mean_ns); }
  void one(const state_list& value) { all(value.entries, value.left_out); }
  void one(const task_positions& value) { all(value.task, value.incarnation, value.at); }
  void one(const placed_node& value) {
    all(value.node, value.op, value.device, value.why, value.end_ns);
  }
  void one(const link_use& value) { all(value.from, value.to, value.tensors, value.bytes); }
  void one(const placement_report& value) {
    all(value.strategy, value.nodes, value.total_ns, value.first_worker_ns, value.links);
  }
  void one(std::monostate) { out << "nothing"; }
  void one(const session_open& value) {
    const auto& p = value.passes;
    all(value.container, value.region_per_node, value.deterministic, value.replay,
        value.place_by_cost, value.max_concurrent, static_cast<int>(value.between_tasks),
        static_cast<int>(value.placement.strategy), value.placement.soft,
        static_cast<int>(value.placement.receives), p.fold, p.simplify, p.merge, p.dead, p.fuse,
        p.schedule, p.hoist_collectives, p.hoist_invariants, p.mixed_precision,
        static_cast<int>(p.swap.mode), p.swap.memory, p.swap.at_least, value.restores);
  }
  void one(const session_prepare& value) {
    all(value.graph, value.targets, value.feeds, value.low_priority, value.explain, value.costs,
        value.retried);
  }
  void one(const session_run& value) {
    all(value.handle, value.feeds, value.times, value.check_numerics, value.fill, value.knows,
        value.retried);
  }
  void one(const session_forget& value) { all(value.handle); }
  void one(const session_reset& value) { all(value.container); }
  void one(const session_state_of& value) { all(value.task); }
  void one(const session_devices&) { out << "devices"; }
  void one(const session_known_devices&) { out << "known devices"; }
  void one(const session_stop& value) { all(value.request); }
  void one(const session_positions& value) { all(value.go_on_from, value.tasks); }
  void one(const session_fill_end& value) { all(value.fill, value.done); }
  void one(const state_loss& value) { all(value.task, value.number); }
  void one(const task_fill& value) { all(value.task, static_cast<int>(value.stage)); }
  void one(const client_wait& value) {
    all(value.target, value.reason, value.steps, value.seconds);
  }
  void one(const task_problem& value) { all(value.task, value.why); }
  void one(const prepared_handle& value) { all(value.handle); }
  void one(const session_ran& value) {
    all(value.fetches, value.step, value.statistics, value.begin_ns, value.end_ns);
  }
  void operator()(const session_request& m) {
    all(m.request, m.deadline_ms, m.what.index());
    std::visit([&](const auto& what) { one(what); }, m.what);
  }
  void operator()(const session_reply& m) {
    all(m.request, m.outcome, m.leaving, m.not_begun, m.warnings, m.held, m.losses, m.fills,
        m.problems, m.what.index());
    std::visit([&](const auto& what) { one(what); }, m.what);
  }
  void operator()(const positions_reply& m) { all(m.request, m.incarnation, m.outcome, m.at); }
};

} // namespace

std::string print(const message& what) {
  printer to;
  to.out << name_of(what) << ' ';
  std::visit(to, what);
  return std::move(to.out).str();
}

} // namespace troupe::testing
