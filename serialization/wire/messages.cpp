#include "troupe/serialization/wire/messages.hpp"

#include "troupe/serialization/wire/capnp_text.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/session_settings.hpp"
#include "troupe/serialization/wire/wire.capnp.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <algorithm>
#include <array>

namespace troupe {
namespace {

// Longer texts are cut: an error message must not make the message that carries it fail.
constexpr size_t longest_text = 64 * 1024;

class writer {
public:
  writer(wire::Envelope::Builder to, const encode_options& options) : to_(to), options_(options) {}

  status failed;
  std::vector<tensor> outside;

  void operator()(const hello& what) {
    auto to = to_.initHello();
    to.setVersion(what.version);
    to.setSoftware(as_text(what.software));
    to.setRole(as_text(what.role));
    to.setJob(as_text(what.job));
    to.setTask(what.task);
    to.setIncarnation(what.incarnation);
    to.setMaxMessage(what.max_message);
    to.setMaxTensorBytes(what.max_tensor_bytes);
    to.setCluster(as_text(what.cluster));
    to.setProcess(what.process);
    to.setTokenAt(what.token_at);
    to.setToken0(what.token[0]);
    to.setToken1(what.token[1]);
    to.setAccessToken(as_text(what.access_token));
    to.setSchema(what.schema);
    to.setBuild(as_text(what.build));
  }
  void operator()(const refusal& what) { write(to_.initRefusal(), what.why); }
  void operator()(const register_graph& what) {
    auto to = to_.initRegisterGraph();
    to.setRequest(what.request);
    to.setSession(what.how.session);
    to.setContainer(as_text(what.how.container));
    to.setRegionPerNode(what.how.region_per_node);
    to.setDeterministic(what.how.deterministic);
    to.setNoReplay(!what.how.replay);
    to.setLowPriority(what.how.low_priority);
    to.setIncarnation(what.how.incarnation);
    write_known(to.initPeers(static_cast<unsigned>(what.how.peers.size())), what.how.peers);
    auto list = to.initPartitions(static_cast<unsigned>(what.partitions.size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setDevice(as_text(what.partitions[i].device));
      write(list[i].initGraph(), what.partitions[i].graph);
      list[i].setFrame(what.partitions[i].frame);
      list[i].setFunction(what.partitions[i].function);
      list[i].setOfNode(as_text(what.partitions[i].of_node));
    }
    write_positions([&] { return to.initPositions(); }, what.how.positions);
    write_costs(to, what.how.costs, &node_cost::nanoseconds);
  }
  void operator()(const register_reply& what) {
    auto to = to_.initRegisterReply();
    to.setRequest(what.request);
    to.setHandle(what.handle);
    write(to.initOutcome(), what.outcome);
  }
  void operator()(const deregister_graph& what) { to_.setDeregisterGraph(what.handle); }
  void operator()(const run_step& what) {
    auto to = to_.initRunStep();
    to.setRequest(what.request);
    to.setHandle(what.handle);
    to.setStep(what.step.sequence);
    to.setSession(what.step.session);
    to.setIncarnation(what.incarnation);
    to.setDeadlineMs(what.deadline_ms);
    to.setTimes(what.times);
    to.setTrapNonfinite(what.check_numerics);
    to.setFills(what.fills);
    to.setRetried(what.retried);
    write(to.initFeeds(static_cast<unsigned>(what.feeds.size())), what.feeds);
  }
  void operator()(const fill_end& what) {
    auto to = to_.initFillEnd();
    to.setRequest(what.request);
    to.setDone(what.done);
  }
  void operator()(const program_lost& what) { to_.setProgramLost(what.handle); }
  void operator()(const client_waits& what) {
    auto to = to_.initClientWaits(static_cast<unsigned>(what.waits.size()));
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setTarget(as_text(what.waits[i].target));
      to[i].setReason(as_text(what.waits[i].reason));
      to[i].setSteps(what.waits[i].steps);
      to[i].setSeconds(what.waits[i].seconds);
    }
  }
  void operator()(const step_done& what) {
    auto to = to_.initStepDone();
    to.setRequest(what.request);
    write(to.initOutcome(), what.outcome);
    write(to.initFetches(static_cast<unsigned>(what.fetches.size())), what.fetches);
    write(to.initStatistics(), what.statistics);
    to.setHolds(what.holds);
    to.setFill(static_cast<uint8_t>(what.fill));
  }
  void operator()(const cancel_step& what) {
    auto to = to_.initCancelStep();
    to.setStep(what.step.sequence);
    to.setSession(what.step.session);
    write(to.initWhy(), what.why);
  }
  void operator()(const settle_step& what) {
    auto to = to_.initSettleStep();
    to.setRequest(what.request);
    to.setStep(what.step.sequence);
    to.setSession(what.step.session);
  }
  void operator()(const tensor_push& what) {
    auto to = to_.initTensorPush();
    to.setStep(what.step.sequence);
    to.setSession(what.step.session);
    to.setFrame(what.frame);
    to.setIteration(what.iteration);
    to.setKey(what.key);
    to.setDead(what.dead);
    write(to.initValue(), what.value);
  }
  void operator()(const pull& what) { to_.setPull(what.transfer); }
  void operator()(const unwanted& what) { to_.setUnwanted(what.transfer); }
  void operator()(const withdrawn& what) { to_.setWithdrawn(what.transfer); }
  void operator()(const borrow& what) { to_.setBorrow(what.transfer); }
  void operator()(const lent& what) {
    auto to = to_.initLent();
    to.setTransfer(what.transfer);
    to.setAddress(what.address);
  }
  void operator()(const returned& what) { to_.setReturned(what.transfer); }
  void operator()(const ping& what) {
    auto to = to_.initPing();
    to.setNonce(what.nonce);
    to.setSentNs(what.sent_ns);
  }
  void operator()(const pong& what) { to_.setPong(what.nonce); }
  void operator()(const goodbye& what) { to_.setGoodbye(as_text(what.reason)); }
  void operator()(const container_reset& what) {
    auto to = to_.initContainerReset();
    to.setRequest(what.request);
    to.setContainer(as_text(what.container));
  }
  void operator()(const reply& what) {
    auto to = to_.initReply();
    to.setRequest(what.request);
    write(to.initOutcome(), what.outcome);
  }
  void operator()(const device_list_request& what) { to_.setDeviceListRequest(what.request); }
  void operator()(const device_list_reply& what) {
    auto to = to_.initDeviceListReply();
    to.setRequest(what.request);
    write_devices(to.initDevices(static_cast<unsigned>(what.devices.size())), what.devices);
  }
  void operator()(const state_list_request& what) { to_.setStateListRequest(what.request); }
  void operator()(const state_list_reply& what) {
    auto to = to_.initStateListReply();
    to.setRequest(what.request);
    write_state(to, what.list);
    write(to.initOutcome(), what.outcome);
  }
  void operator()(const inspect_request& what) {
    auto to = to_.initInspectRequest();
    to.setRequest(what.request);
    to.setRef(as_text(what.ref));
    to.setDepth(what.depth);
    to.setOnly(as_text(what.only));
  }
  void operator()(const inspect_reply& what) {
    auto to = to_.initInspectReply();
    to.setRequest(what.request);
    write(to.initOutcome(), what.outcome);
    write(to.initTree(), what.tree);
  }
  void operator()(const drain_request& what) { to_.setDrainRequest(what.request); }
  void operator()(const positions_request& what) {
    auto to = to_.initPositionsRequest();
    to.setRequest(what.request);
    to.setSession(what.session);
    write_positions([&] { return to.initGoOnFrom(); }, what.go_on_from);
  }
  void operator()(const positions_reply& what) {
    auto to = to_.initPositionsReply();
    to.setRequest(what.request);
    to.setIncarnation(what.incarnation);
    write(to.initOutcome(), what.outcome);
    write_positions([&] { return to.initPositions(); }, what.at);
  }

  // As tensors, which may lie beside the message.
  void operator()(const member_changes& what) {
    auto to = to_.initMemberChanges();
    write(to.initSince(), what.since);
    write(to.initEpoch(), what.epoch);
    to.setCoordinatorJob(as_text(what.coordinator.job));
    to.setCoordinatorTask(what.coordinator.task);
    if (what.members.empty())
      return;
    auto count = static_cast<int64_t>(what.members.size());
    auto texts = tensor::make(dtype::string, shape{count, 2});
    auto numbers = tensor::make(dtype::u64, shape{count, 4});
    if (!texts || !numbers) {
      failed = texts ? numbers.status() : texts.status();
      return;
    }
    auto* text = texts->data<std::string>();
    auto* number = numbers->data<uint64_t>();
    for (const auto& one : what.members) {
      *text++ = one.task.job;
      *text++ = one.address;
      for (auto each : {static_cast<uint64_t>(one.task.task), one.incarnation,
                        static_cast<uint64_t>(one.state), one.changed})
        *number++ = each;
    }
    write(to.initTexts(), *texts);
    write(to.initNumbers(), *numbers);
  }
  void operator()(const number_claim& what) {
    auto to = to_.initNumberClaim();
    to.setJob(as_text(what.job));
    to.setTask(what.task);
    to.setIncarnation(what.incarnation);
    to.setAddress(as_text(what.address));
    to.setHolds(what.holds);
  }
  void operator()(const number_grant& what) {
    auto to = to_.initNumberGrant();
    write(to.initOutcome(), what.outcome);
    to.setJob(as_text(what.task.job));
    to.setTask(what.task.task);
    to.setIncarnation(what.incarnation);
    to.setAsk(as_text(what.ask));
  }
  void operator()(const probe_request& what) {
    auto to = to_.initProbeRequest();
    to.setJob(as_text(what.task.job));
    to.setTask(what.task.task);
    to.setIncarnation(what.incarnation);
  }
  void operator()(const probe_answer& what) {
    auto to = to_.initProbeAnswer();
    to.setJob(as_text(what.task.job));
    to.setTask(what.task.task);
    to.setIncarnation(what.incarnation);
    to.setReached(what.reached);
  }
  void operator()(const vote_request& what) {
    auto to = to_.initVoteRequest();
    to.setTerm(what.term);
    write(to.initHas(), what.has);
  }
  void operator()(const vote& what) {
    auto to = to_.initVote();
    to.setTerm(what.term);
    to.setGranted(what.granted);
  }
  void operator()(const session_request& what) {
    auto to = to_.initSessionRequest();
    to.setRequest(what.request);
    to.setDeadlineMs(what.deadline_ms);
    std::visit([&](const auto& one) { write(to, one); }, what.what);
  }
  void operator()(const session_reply& what) {
    auto to = to_.initSessionReply();
    to.setRequest(what.request);
    write(to.initOutcome(), what.outcome);
    to.setLeaving(what.leaving);
    to.setNotBegun(what.not_begun);
    write_tasks(to, what);
    auto problems = to.initProblems(static_cast<unsigned>(what.problems.size()));
    for (unsigned i = 0; i < problems.size(); ++i) {
      problems[i].setTask(as_text(what.problems[i].task));
      write(problems[i].initWhy(), what.problems[i].why);
    }
    write(to.initWarnings(static_cast<unsigned>(what.warnings.size())), what.warnings);
    std::visit([&](const auto& one) { write(to, one); }, what.what);
  }

private:
  using request_builder = wire::SessionRequest::Builder;
  using reply_builder = wire::SessionReply::Builder;

  static void write(request_builder in, const session_open& what) {
    write_settings(in.initOpen(), what);
  }
  void write(request_builder in, const session_prepare& what) {
    auto to = in.initPrepare();
    write(to.initGraph(), what.graph);
    write(to.initTargets(static_cast<unsigned>(what.targets.size())), what.targets);
    to.setFeeds(what.feeds);
    to.setLowPriority(what.low_priority);
    to.setExplain(what.explain);
    to.setRetried(what.retried);
    write_costs(to, what.costs, &node_time::mean_ns);
    std::vector<std::string> devices;
    for (const auto& one : what.costs)
      devices.push_back(one.device);
    if (!devices.empty())
      write(to.initCostDevices(), tensor::vector(devices));
  }
  void write(request_builder in, const session_run& what) {
    auto to = in.initRun();
    to.setHandle(what.handle);
    write(to.initFeeds(static_cast<unsigned>(what.feeds.size())), what.feeds);
    to.setTimes(what.times);
    to.setTrapNonfinite(what.check_numerics);
    to.setFill(what.fill);
    to.setKnows(what.knows);
    to.setRetried(what.retried);
  }
  static void write(request_builder in, const session_fill_end& what) {
    auto to = in.initFillEnd();
    to.setFill(what.fill);
    to.setDone(what.done);
  }
  static void write(request_builder in, const session_forget& what) { in.setForget(what.handle); }
  static void write(request_builder in, const session_reset& what) {
    in.setReset(as_text(what.container));
  }
  static void write(request_builder in, const session_state_of& what) {
    in.setStateOf(as_text(what.task));
  }
  static void write(request_builder in, const session_devices&) { in.setDevices(); }
  static void write(request_builder in, const session_known_devices&) { in.setKnownDevices(); }
  static void write(request_builder in, const session_stop& what) { in.setStop(what.request); }
  void write(request_builder in, const session_positions& what) {
    in.initPositions();
    write_positions([&] { return in.getPositions(); }, what.go_on_from);
    auto tasks = in.initTasks(static_cast<unsigned>(what.tasks.size()));
    for (unsigned i = 0; i < tasks.size(); ++i)
      tasks.set(i, as_text(what.tasks[i]));
  }

  static void write(reply_builder in, std::monostate) { in.setNothing(); }
  static void write(reply_builder in, const prepared_handle& what) { in.setHandle(what.handle); }
  void write(reply_builder in, const session_ran& what) {
    auto to = in.initRan();
    write(to.initFetches(static_cast<unsigned>(what.fetches.size())), what.fetches);
    to.setStep(what.step);
    write(to.initStatistics(static_cast<unsigned>(what.statistics.size())), what.statistics);
    to.setBeginNs(what.begin_ns);
    to.setEndNs(what.end_ns);
  }
  static void write(reply_builder in, const std::vector<device_info>& what) {
    write_devices(in.initDevices(static_cast<unsigned>(what.size())), what);
  }
  void write(reply_builder in, const state_list& what) { write_state(in.initState(), what); }
  void write(reply_builder in, const std::vector<task_positions>& what) {
    auto to = in.initPositions(static_cast<unsigned>(what.size()));
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setTask(as_text(what[i].task));
      to[i].setIncarnation(what[i].incarnation);
      write_positions([&] { return to[i].initPositions(); }, what[i].at);
    }
  }
  void write(reply_builder in, const placement_report& what) {
    auto to = in.initReport();
    to.setStrategy(as_text(what.strategy));
    to.setTotalNs(what.total_ns);
    to.setFirstWorkerNs(what.first_worker_ns);
    std::vector<std::string> nodes, links;
    std::vector<double> ends, sizes;
    for (const auto& one : what.nodes) {
      nodes.insert(nodes.end(), {one.node, one.op, one.device, one.why});
      ends.push_back(one.end_ns);
    }
    for (const auto& one : what.links) {
      links.insert(links.end(), {one.from, one.to});
      sizes.insert(sizes.end(), {static_cast<double>(one.tensors), one.bytes});
    }
    auto rows = static_cast<int64_t>(what.nodes.size()),
         uses = static_cast<int64_t>(what.links.size());
    write(to.initNodes(), tensor::of(shape{rows, 4}, nodes));
    write(to.initEnds(), tensor::of(shape{rows}, ends));
    write(to.initLinks(), tensor::of(shape{uses, 2}, links));
    write(to.initSizes(), tensor::of(shape{uses, 2}, sizes));
  }

  static void write_known(capnp::List<wire::KnownPeer>::Builder to,
                          const std::vector<known_peer>& what) {
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setTask(as_text(what[i].task));
      to[i].setIncarnation(what[i].incarnation);
    }
  }

  // As tensors, which may lie beside the message: there are as many as nodes.
  template <class To, class Cost>
  void write_costs(To to, const std::vector<Cost>& what, double Cost::*takes) {
    if (what.empty())
      return;
    std::vector<std::string> nodes;
    std::vector<double> nanoseconds;
    for (const auto& one : what) {
      nodes.push_back(one.node);
      nanoseconds.push_back(one.*takes);
    }
    write(to.initCostNodes(), tensor::vector(nodes));
    write(to.initCostNanoseconds(), tensor::vector(nanoseconds));
  }

  static void write_devices(capnp::List<wire::Device>::Builder to,
                            const std::vector<device_info>& what) {
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setName(as_text(what[i].name));
      to[i].setKind(as_text(what[i].kind));
      to[i].setMemoryBytes(what[i].memory_bytes);
      to[i].setDescription(as_text(what[i].description));
    }
  }

  // As tensors, which may lie beside the message.
  void write_state(wire::StateListReply::Builder to, const state_list& what) {
    to.setLeftOut(what.left_out);
    if (what.entries.empty())
      return;
    auto count = static_cast<int64_t>(what.entries.size());
    auto texts = tensor::make(dtype::string, shape{count, 6});
    auto bytes = tensor::make(dtype::u64, shape{count});
    if (!texts || !bytes) {
      failed = texts ? bytes.status() : texts.status();
      return;
    }
    auto* text = texts->data<std::string>();
    auto* size = bytes->data<uint64_t>();
    for (const auto& one : what.entries) {
      for (const auto* each :
           {&one.task, &one.container, &one.kind, &one.name, &one.holds, &one.content})
        *text++ = *each;
      *size++ = one.bytes;
    }
    write(to.initTexts(), *texts);
    write(to.initBytes(), *bytes);
  }

  static void write(capnp::List<capnp::Text>::Builder to, const std::vector<std::string>& from) {
    for (unsigned i = 0; i < to.size(); ++i)
      to.set(i, as_text(from[i]));
  }
  void write(capnp::List<wire::Tensor>::Builder to, const std::vector<tensor>& from) {
    for (unsigned i = 0; i < to.size(); ++i)
      write(to[i], from[i]);
  }

  static void write(wire::ListEpoch::Builder to, const list_epoch& what) {
    to.setTerm(what.term);
    to.setChange(what.change);
  }

  // As a tensor, which may lie beside the message.
  template <class Place>
  void write_positions(Place place, const kernel_positions& what) {
    if (what.empty())
      return;
    auto texts = tensor::make(dtype::string, shape{static_cast<int64_t>(what.size()), 2});
    if (!texts) {
      failed = texts.status();
      return;
    }
    auto* text = texts->data<std::string>();
    for (const auto& [node, position] : what) {
      *text++ = node;
      *text++ = position;
    }
    write(place(), *texts);
  }

  void write(wire::Status::Builder to, const status& what) {
    to.setKind(static_cast<uint8_t>(what.kind()));
    to.setMessage(as_text(what.message().size() <= longest_text
                              ? what.message()
                              : what.message().substr(0, longest_text) + " [cut]"));
    const auto& origin = what.origin();
    if (std::max({origin.op.size(), origin.node.size(), origin.task.size()}) > longest_text)
      return;
    to.setOp(as_text(origin.op));
    to.setNode(as_text(origin.node));
    to.setTask(as_text(origin.task));
    to.setIncarnation(origin.incarnation);
    to.setStateLost(origin.state_lost);
  }

  void write(capnp::List<wire::IndexedTensor>::Builder to,
             const std::vector<indexed_tensor>& from) {
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setIndex(from[i].index);
      write(to[i].initValue(), from[i].value);
    }
  }

  void write(wire::Tensor::Builder to, const tensor& what) {
    if (what.empty()) {
      to.setNothing();
      return;
    }
    to.setType(static_cast<uint8_t>(what.type()));
    auto dims = to.initShape(static_cast<unsigned>(what.rank()));
    for (int axis = 0; axis < what.rank(); ++axis)
      dims.set(static_cast<unsigned>(axis), what.dims()[axis]);
    auto payload = to_payload(what);
    if (!payload) {
      failed = payload.status();
      return;
    }
    auto size = payload->bytes();
    // Half of the message is kept for everything else in it.
    if (size <= options_.inline_tensor && size <= options_.max_message / 2 - inlined_) {
      inlined_ += size;
      auto bytes = bytes_of(*payload);
      to.setInlined({reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()});
    } else {
      to.setOutside(static_cast<uint32_t>(outside.size()));
      outside.push_back(*std::move(payload));
    }
  }

  wire::Envelope::Builder to_;
  const encode_options& options_;
  size_t inlined_ = 0;
};

} // namespace

result<encoded_message> encode(const message& what, const encode_options& options) {
  try {
    // Small messages fit: no memory is taken for them.
    capnp::word scratch[256] = {};
    capnp::MallocMessageBuilder builder{kj::arrayPtr(scratch, std::size(scratch))};
    auto root = builder.initRoot<wire::Envelope>();
    writer to{root, options};
    std::visit(to, what);
    TROUPE_TRY(std::move(to.failed).within(name_of(what)));
    auto sizes = root.initOutside(static_cast<unsigned>(to.outside.size()));
    for (unsigned i = 0; i < sizes.size(); ++i)
      sizes.set(i, to.outside[i].bytes());
    auto size = capnp::computeSerializedSizeInWords(builder) * sizeof(capnp::word);
    if (size > options.max_message)
      return failure(error_kind::resource_exhausted, name_of(what), ": the message has ", size,
                     " bytes, the longest allowed has ", options.max_message);
    encoded_message encoded{std::vector<std::byte>(size), std::move(to.outside)};
    kj::ArrayOutputStream out{{reinterpret_cast<kj::byte*>(encoded.bytes.data()), size}};
    capnp::writeMessage(out, builder);
    return encoded;
  } catch (const kj::Exception& thrown) { // a text or list beyond what the format can hold
    return failure(error_kind::resource_exhausted, name_of(what), ": ",
                   std::string_view{thrown.getDescription().cStr()});
  }
}

} // namespace troupe
