#include "tests/serialization/wire/example_messages.hpp"

#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <sstream>

namespace troupe::test {
namespace {

struct printer {
  std::ostringstream out;

  void print_parts() {}
  template <class T, class... Ts>
  void print_parts(const T& first, const Ts&... others) {
    print_part(first);
    out << '|';
    print_parts(others...);
  }
  template <class T>
  void print_part(const T& value) {
    out << value;
  }
  void print_part(const status& value) {
    const auto& location = value.origin();
    out << value;
    print_parts(location.op, location.node, location.task, location.incarnation,
                location.state_lost);
  }
  void print_part(const tensor& value) {
    if (value.empty())
      out << "nothing";
    else if (value.elements() > 100 && value.type() != dtype::string)
      out << value.type() << value.dims() << checksum_of(bytes_of(value));
    else
      out << to_string(value, value.elements());
  }
  void print_part(const registered_partition& value) { print_parts(value.device, value.graph); }
  void print_part(const indexed_tensor& value) { print_parts(value.index, value.value); }
  void print_part(const kernel_positions& values) {
    for (const auto& [node, position] : values)
      print_parts(node, position);
  }
  void print_part(const node_cost& value) { print_parts(value.node, value.nanoseconds); }
  void print_part(const known_peer& value) { print_parts(value.task, value.incarnation); }
  void print_part(const device_info& value) {
    print_parts(value.name, value.kind, value.memory_bytes, value.description);
  }
  void print_part(const state_info& value) {
    print_parts(value.task, value.container, value.kind, value.name, value.holds, value.content,
                value.bytes);
  }
  template <class T>
  void print_part(const std::vector<T>& values) {
    out << values.size() << ':';
    for (const auto& value : values)
      print_part(value);
  }

  void operator()(const hello& m) {
    print_parts(m.version, m.software, m.role, m.job, m.task, m.incarnation, m.max_message,
                m.max_tensor_bytes, m.cluster, m.process_id, m.token_address, m.token[0],
                m.token[1], m.access_token, m.schema, m.build);
  }
  void operator()(const refusal& m) { print_parts(m.reason); }
  void operator()(const register_graph& m) {
    print_parts(m.request, m.settings.session, m.settings.container, m.settings.region_per_node,
                m.partitions, m.settings.deterministic, m.settings.costs, m.settings.replay,
                m.settings.incarnation, m.settings.peers, m.settings.positions);
  }
  void operator()(const register_reply& m) { print_parts(m.request, m.handle, m.outcome); }
  void operator()(const deregister_graph& m) { print_parts(m.handle); }
  void operator()(const run_step& m) {
    print_parts(m.request, m.handle, m.step.session, m.step, m.deadline_ms, m.feeds,
                m.wants_statistics, m.check_numerics, m.incarnation, m.initializes_task, m.retried);
  }
  void operator()(const initialization_end& m) { print_parts(m.request, m.done); }
  void operator()(const program_lost& m) { print_parts(m.handle); }
  void operator()(const client_waits& m) { print_parts(m.waits); }
  void operator()(const step_done& m) {
    print_parts(m.request, m.outcome, m.fetches, m.statistics, m.is_revocable,
                static_cast<int>(m.initialization));
  }
  void operator()(const cancel_step& m) { print_parts(m.step.session, m.step, m.reason); }
  void operator()(const settle_step& m) { print_parts(m.step.session, m.step, m.request); }
  void operator()(const tensor_push& m) {
    print_parts(m.step.session, m.step, m.key, m.is_dead, m.value, m.frame, m.iteration);
  }
  void operator()(const pull& m) { print_parts(m.transfer); }
  void operator()(const cancel_pull& m) { print_parts(m.transfer); }
  void operator()(const withdrawal& m) { print_parts(m.transfer); }
  void operator()(const borrow_request& m) { print_parts(m.transfer); }
  void operator()(const loan& m) { print_parts(m.transfer, m.address); }
  void operator()(const loan_return& m) { print_parts(m.transfer); }
  void operator()(const ping& m) { print_parts(m.nonce, m.sent_ns); }
  void operator()(const pong& m) { print_parts(m.nonce); }
  void operator()(const goodbye& m) { print_parts(m.reason); }
  void operator()(const container_reset& m) { print_parts(m.request, m.container); }
  void operator()(const reply& m) { print_parts(m.request, m.outcome); }
  void operator()(const device_list_request& m) { print_parts(m.request); }
  void operator()(const device_list_reply& m) { print_parts(m.request, m.devices); }
  void operator()(const state_list_request& m) { print_parts(m.request); }
  void operator()(const state_list_reply& m) {
    print_parts(m.request, m.list.entries, m.list.omitted_entries, m.outcome);
  }
  void operator()(const inspect_request& m) { print_parts(m.request, m.ref, m.depth, m.only); }
  void operator()(const inspect_reply& m) { print_parts(m.request, m.outcome, m.tree); }
  void operator()(const drain_request& m) { print_parts(m.request); }
  void operator()(const positions_request& m) {
    print_parts(m.request, m.session, m.restored_positions);
  }
  void print_part(const cluster_member& value) {
    print_parts(value.task, value.incarnation, value.address, to_string(value.state),
                value.changed);
  }
  void print_part(const list_epoch& value) { print_parts(value.term, value.change); }
  void operator()(const member_changes& m) {
    print_parts(m.base, m.epoch, m.members, m.coordinator);
  }
  void operator()(const number_claim& m) {
    print_parts(m.job, m.task, m.incarnation, m.address, m.is_confirmed);
  }
  void operator()(const probe_request& m) { print_parts(m.task, m.incarnation); }
  void operator()(const probe_answer& m) { print_parts(m.task, m.incarnation, m.reached); }
  void operator()(const vote_request& m) { print_parts(m.term, m.candidate_epoch); }
  void operator()(const vote& m) { print_parts(m.term, m.granted); }
  void operator()(const number_grant& m) {
    print_parts(m.outcome, m.task, m.incarnation, m.coordinator_address);
  }
  void print_part(const node_time& value) { print_parts(value.node, value.device, value.mean_ns); }
  void print_part(const state_list& value) { print_parts(value.entries, value.omitted_entries); }
  void print_part(const task_positions& value) {
    print_parts(value.task, value.incarnation, value.positions);
  }
  void print_part(const placed_node& value) {
    print_parts(value.node, value.op, value.device, value.reason, value.end_ns);
  }
  void print_part(const link_use& value) {
    print_parts(value.from, value.to, value.tensors, value.bytes);
  }
  void print_part(const placement_report& value) {
    print_parts(value.strategy, value.nodes, value.total_ns, value.first_worker_ns, value.links);
  }
  void print_part(std::monostate) { out << "nothing"; }
  void print_part(const session_open& value) {
    const auto& p = value.passes;
    print_parts(
        value.container, value.region_per_node, value.deterministic, value.replay,
        value.place_by_cost, value.max_concurrent, static_cast<int>(value.transfer_precision),
        static_cast<int>(value.placement.strategy), value.placement.soft,
        static_cast<int>(value.placement.receives), p.fold, p.simplify, p.merge, p.remove_dead,
        p.fuse, p.schedule, p.hoist_collectives, p.hoist_invariants, p.mixed_precision,
        static_cast<int>(p.swap.mode), p.swap.memory, p.swap.min_bytes, value.restores);
  }
  void print_part(const session_prepare& value) {
    print_parts(value.graph, value.targets, value.feeds, value.low_priority, value.explain,
                value.costs, value.retried);
  }
  void print_part(const session_run& value) {
    print_parts(value.handle, value.feeds, value.wants_statistics, value.check_numerics,
                value.initialization, value.acknowledged_loss, value.retried);
  }
  void print_part(const session_release& value) { print_parts(value.handle); }
  void print_part(const session_reset& value) { print_parts(value.container); }
  void print_part(const session_state_of& value) { print_parts(value.task); }
  void print_part(const session_devices&) { out << "devices"; }
  void print_part(const session_known_devices&) { out << "known devices"; }
  void print_part(const session_stop& value) { print_parts(value.request); }
  void print_part(const session_positions& value) {
    print_parts(value.restored_positions, value.tasks);
  }
  void print_part(const session_initialization_end& value) {
    print_parts(value.initialization, value.done);
  }
  void print_part(const state_loss& value) { print_parts(value.task, value.number); }
  void print_part(const initialization_report& value) {
    print_parts(value.task, static_cast<int>(value.stage));
  }
  void print_part(const client_wait& value) {
    print_parts(value.target, value.reason, value.steps, value.seconds);
  }
  void print_part(const task_problem& value) { print_parts(value.task, value.reason); }
  void print_part(const prepared_handle& value) { print_parts(value.handle); }
  void print_part(const session_run_result& value) {
    print_parts(value.fetches, value.step, value.statistics, value.begin_ns, value.end_ns);
  }
  void operator()(const session_request& m) {
    print_parts(m.request, m.deadline_ms, m.content.index());
    std::visit([&](const auto& content) { print_part(content); }, m.content);
  }
  void operator()(const session_reply& m) {
    print_parts(m.request, m.outcome, m.is_draining, m.not_started, m.warnings, m.state_peers,
                m.losses, m.initializations, m.problems, m.content.index());
    std::visit([&](const auto& content) { print_part(content); }, m.content);
  }
  void operator()(const positions_reply& m) {
    print_parts(m.request, m.incarnation, m.outcome, m.positions);
  }
};

} // namespace

std::string print(const message& to_print) {
  printer to;
  to.out << name_of(to_print) << ' ';
  std::visit(to, to_print);
  return std::move(to.out).str();
}

} // namespace troupe::test
