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

// Longer texts are cut, so that a long error text does not make its message fail.
constexpr size_t longest_text = 64 * 1024;

class writer {
public:
  writer(wire::Envelope::Builder to, const encode_options& options) : to_(to), options_(options) {}

  status failed;
  std::vector<tensor> payloads;

  void operator()(const hello& source) {
    auto to = to_.initHello();
    to.setVersion(source.version);
    to.setSoftware(as_text(source.software));
    to.setRole(as_text(source.role));
    to.setJob(as_text(source.job));
    to.setTask(source.task);
    to.setIncarnation(source.incarnation);
    to.setMaxMessage(source.max_message);
    to.setMaxTensorBytes(source.max_tensor_bytes);
    to.setCluster(as_text(source.cluster));
    to.setProcess(source.process_id);
    to.setTokenAt(source.token_address);
    to.setToken0(source.token[0]);
    to.setToken1(source.token[1]);
    to.setAccessToken(as_text(source.access_token));
    to.setSchema(source.schema);
    to.setBuild(as_text(source.build));
  }
  void operator()(const refusal& source) { write(to_.initRefusal(), source.reason); }
  void operator()(const register_graph& source) {
    auto to = to_.initRegisterGraph();
    to.setRequest(source.request);
    to.setSession(source.settings.session);
    to.setContainer(as_text(source.settings.container));
    to.setRegionPerNode(source.settings.region_per_node);
    to.setDeterministic(source.settings.deterministic);
    to.setNoReplay(!source.settings.replay);
    to.setLowPriority(source.settings.low_priority);
    to.setIncarnation(source.settings.incarnation);
    write_known(to.initPeers(static_cast<unsigned>(source.settings.peers.size())),
                source.settings.peers);
    auto list = to.initPartitions(static_cast<unsigned>(source.partitions.size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setDevice(as_text(source.partitions[i].device));
      write(list[i].initGraph(), source.partitions[i].graph);
      list[i].setFrame(source.partitions[i].frame);
      list[i].setFunction(source.partitions[i].function);
      list[i].setOfNode(as_text(source.partitions[i].of_node));
    }
    write_positions([&] { return to.initPositions(); }, source.settings.positions);
    write_costs(to, source.settings.costs, &node_cost::nanoseconds);
  }
  void operator()(const register_reply& source) {
    auto to = to_.initRegisterReply();
    to.setRequest(source.request);
    to.setHandle(source.handle);
    write(to.initOutcome(), source.outcome);
  }
  void operator()(const deregister_graph& source) { to_.setDeregisterGraph(source.handle); }
  void operator()(const run_step& source) {
    auto to = to_.initRunStep();
    to.setRequest(source.request);
    to.setHandle(source.handle);
    to.setStep(source.step.sequence);
    to.setSession(source.step.session);
    to.setIncarnation(source.incarnation);
    to.setDeadlineMs(source.deadline_ms);
    to.setTimes(source.wants_statistics);
    to.setTrapNonfinite(source.check_numerics);
    to.setFills(source.initializes_task);
    to.setRetried(source.retried);
    write(to.initFeeds(static_cast<unsigned>(source.feeds.size())), source.feeds);
  }
  void operator()(const initialization_end& source) {
    auto to = to_.initFillEnd();
    to.setRequest(source.request);
    to.setDone(source.done);
  }
  void operator()(const program_lost& source) { to_.setProgramLost(source.handle); }
  void operator()(const client_waits& source) {
    auto to = to_.initClientWaits(static_cast<unsigned>(source.waits.size()));
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setTarget(as_text(source.waits[i].target));
      to[i].setReason(as_text(source.waits[i].reason));
      to[i].setSteps(source.waits[i].steps);
      to[i].setSeconds(source.waits[i].seconds);
    }
  }
  void operator()(const step_done& source) {
    auto to = to_.initStepDone();
    to.setRequest(source.request);
    write(to.initOutcome(), source.outcome);
    write(to.initFetches(static_cast<unsigned>(source.fetches.size())), source.fetches);
    write(to.initStatistics(), source.statistics);
    to.setHolds(source.is_revocable);
    to.setFill(static_cast<uint8_t>(source.initialization));
  }
  void operator()(const cancel_step& source) {
    auto to = to_.initCancelStep();
    to.setStep(source.step.sequence);
    to.setSession(source.step.session);
    write(to.initWhy(), source.reason);
  }
  void operator()(const settle_step& source) {
    auto to = to_.initSettleStep();
    to.setRequest(source.request);
    to.setStep(source.step.sequence);
    to.setSession(source.step.session);
  }
  void operator()(const tensor_push& source) {
    auto to = to_.initTensorPush();
    to.setStep(source.step.sequence);
    to.setSession(source.step.session);
    to.setFrame(source.frame);
    to.setIteration(source.iteration);
    to.setKey(source.key);
    to.setDead(source.is_dead);
    write(to.initValue(), source.value);
  }
  void operator()(const pull& source) { to_.setPull(source.transfer); }
  void operator()(const cancel_pull& source) { to_.setUnwanted(source.transfer); }
  void operator()(const withdrawal& source) { to_.setWithdrawn(source.transfer); }
  void operator()(const borrow_request& source) { to_.setBorrow(source.transfer); }
  void operator()(const loan& source) {
    auto to = to_.initLent();
    to.setTransfer(source.transfer);
    to.setAddress(source.address);
  }
  void operator()(const loan_return& source) { to_.setReturned(source.transfer); }
  void operator()(const ping& source) {
    auto to = to_.initPing();
    to.setNonce(source.nonce);
    to.setSentNs(source.sent_ns);
  }
  void operator()(const pong& source) { to_.setPong(source.nonce); }
  void operator()(const goodbye& source) { to_.setGoodbye(as_text(source.reason)); }
  void operator()(const container_reset& source) {
    auto to = to_.initContainerReset();
    to.setRequest(source.request);
    to.setContainer(as_text(source.container));
  }
  void operator()(const reply& source) {
    auto to = to_.initReply();
    to.setRequest(source.request);
    write(to.initOutcome(), source.outcome);
  }
  void operator()(const device_list_request& source) { to_.setDeviceListRequest(source.request); }
  void operator()(const device_list_reply& source) {
    auto to = to_.initDeviceListReply();
    to.setRequest(source.request);
    write_devices(to.initDevices(static_cast<unsigned>(source.devices.size())), source.devices);
  }
  void operator()(const state_list_request& source) { to_.setStateListRequest(source.request); }
  void operator()(const state_list_reply& source) {
    auto to = to_.initStateListReply();
    to.setRequest(source.request);
    write_state(to, source.list);
    write(to.initOutcome(), source.outcome);
  }
  void operator()(const inspect_request& source) {
    auto to = to_.initInspectRequest();
    to.setRequest(source.request);
    to.setRef(as_text(source.ref));
    to.setDepth(source.depth);
    to.setOnly(as_text(source.only));
  }
  void operator()(const inspect_reply& source) {
    auto to = to_.initInspectReply();
    to.setRequest(source.request);
    write(to.initOutcome(), source.outcome);
    write(to.initTree(), source.tree);
  }
  void operator()(const drain_request& source) { to_.setDrainRequest(source.request); }
  void operator()(const positions_request& source) {
    auto to = to_.initPositionsRequest();
    to.setRequest(source.request);
    to.setSession(source.session);
    write_positions([&] { return to.initGoOnFrom(); }, source.restored_positions);
  }
  void operator()(const positions_reply& source) {
    auto to = to_.initPositionsReply();
    to.setRequest(source.request);
    to.setIncarnation(source.incarnation);
    write(to.initOutcome(), source.outcome);
    write_positions([&] { return to.initPositions(); }, source.positions);
  }

  // Members are tensors, which may be payloads outside of the message.
  void operator()(const member_changes& source) {
    auto to = to_.initMemberChanges();
    write(to.initSince(), source.base);
    write(to.initEpoch(), source.epoch);
    to.setCoordinatorJob(as_text(source.coordinator.job));
    to.setCoordinatorTask(source.coordinator.task);
    if (source.members.empty())
      return;
    auto count = static_cast<int64_t>(source.members.size());
    auto texts = tensor::make(dtype::string, shape{count, 2});
    auto numbers = tensor::make(dtype::u64, shape{count, 4});
    if (!texts || !numbers) {
      failed = texts ? numbers.status() : texts.status();
      return;
    }
    auto* text = texts->data<std::string>();
    auto* number = numbers->data<uint64_t>();
    for (const auto& member : source.members) {
      *text++ = member.task.job;
      *text++ = member.address;
      for (auto field : {static_cast<uint64_t>(member.task.task), member.incarnation,
                         static_cast<uint64_t>(member.state), member.changed})
        *number++ = field;
    }
    write(to.initTexts(), *texts);
    write(to.initNumbers(), *numbers);
  }
  void operator()(const number_claim& source) {
    auto to = to_.initNumberClaim();
    to.setJob(as_text(source.job));
    to.setTask(source.task);
    to.setIncarnation(source.incarnation);
    to.setAddress(as_text(source.address));
    to.setHolds(source.is_confirmed);
  }
  void operator()(const number_grant& source) {
    auto to = to_.initNumberGrant();
    write(to.initOutcome(), source.outcome);
    to.setJob(as_text(source.task.job));
    to.setTask(source.task.task);
    to.setIncarnation(source.incarnation);
    to.setAsk(as_text(source.coordinator_address));
  }
  void operator()(const probe_request& source) {
    auto to = to_.initProbeRequest();
    to.setJob(as_text(source.task.job));
    to.setTask(source.task.task);
    to.setIncarnation(source.incarnation);
  }
  void operator()(const probe_answer& source) {
    auto to = to_.initProbeAnswer();
    to.setJob(as_text(source.task.job));
    to.setTask(source.task.task);
    to.setIncarnation(source.incarnation);
    to.setReached(source.reached);
  }
  void operator()(const vote_request& source) {
    auto to = to_.initVoteRequest();
    to.setTerm(source.term);
    write(to.initHas(), source.candidate_epoch);
  }
  void operator()(const vote& source) {
    auto to = to_.initVote();
    to.setTerm(source.term);
    to.setGranted(source.granted);
  }
  void operator()(const session_request& source) {
    auto to = to_.initSessionRequest();
    to.setRequest(source.request);
    to.setDeadlineMs(source.deadline_ms);
    std::visit([&](const auto& body) { write(to, body); }, source.content);
  }
  void operator()(const session_reply& source) {
    auto to = to_.initSessionReply();
    to.setRequest(source.request);
    write(to.initOutcome(), source.outcome);
    to.setLeaving(source.is_draining);
    to.setNotBegun(source.not_started);
    write_tasks(to, source);
    auto problems = to.initProblems(static_cast<unsigned>(source.problems.size()));
    for (unsigned i = 0; i < problems.size(); ++i) {
      problems[i].setTask(as_text(source.problems[i].task));
      write(problems[i].initWhy(), source.problems[i].reason);
    }
    write(to.initWarnings(static_cast<unsigned>(source.warnings.size())), source.warnings);
    std::visit([&](const auto& body) { write(to, body); }, source.content);
  }

private:
  using request_builder = wire::SessionRequest::Builder;
  using reply_builder = wire::SessionReply::Builder;

  static void write(request_builder in, const session_open& source) {
    write_settings(in.initOpen(), source);
  }
  void write(request_builder in, const session_prepare& source) {
    auto to = in.initPrepare();
    write(to.initGraph(), source.graph);
    write(to.initTargets(static_cast<unsigned>(source.targets.size())), source.targets);
    to.setFeeds(source.feeds);
    to.setLowPriority(source.low_priority);
    to.setExplain(source.explain);
    to.setRetried(source.retried);
    write_costs(to, source.costs, &node_time::mean_ns);
    std::vector<std::string> devices;
    for (const auto& cost : source.costs)
      devices.push_back(cost.device);
    if (!devices.empty())
      write(to.initCostDevices(), tensor::vector(devices));
  }
  void write(request_builder in, const session_run& source) {
    auto to = in.initRun();
    to.setHandle(source.handle);
    write(to.initFeeds(static_cast<unsigned>(source.feeds.size())), source.feeds);
    to.setTimes(source.wants_statistics);
    to.setTrapNonfinite(source.check_numerics);
    to.setFill(source.initialization);
    to.setKnows(source.acknowledged_loss);
    to.setRetried(source.retried);
  }
  static void write(request_builder in, const session_initialization_end& source) {
    auto to = in.initFillEnd();
    to.setFill(source.initialization);
    to.setDone(source.done);
  }
  static void write(request_builder in, const session_release& source) {
    in.setForget(source.handle);
  }
  static void write(request_builder in, const session_reset& source) {
    in.setReset(as_text(source.container));
  }
  static void write(request_builder in, const session_state_of& source) {
    in.setStateOf(as_text(source.task));
  }
  static void write(request_builder in, const session_devices&) { in.setDevices(); }
  static void write(request_builder in, const session_known_devices&) { in.setKnownDevices(); }
  static void write(request_builder in, const session_stop& source) { in.setStop(source.request); }
  void write(request_builder in, const session_positions& source) {
    in.initPositions();
    write_positions([&] { return in.getPositions(); }, source.restored_positions);
    auto tasks = in.initTasks(static_cast<unsigned>(source.tasks.size()));
    for (unsigned i = 0; i < tasks.size(); ++i)
      tasks.set(i, as_text(source.tasks[i]));
  }

  static void write(reply_builder in, std::monostate) { in.setNothing(); }
  static void write(reply_builder in, const prepared_handle& source) {
    in.setHandle(source.handle);
  }
  void write(reply_builder in, const session_run_result& source) {
    auto to = in.initRan();
    write(to.initFetches(static_cast<unsigned>(source.fetches.size())), source.fetches);
    to.setStep(source.step);
    write(to.initStatistics(static_cast<unsigned>(source.statistics.size())), source.statistics);
    to.setBeginNs(source.begin_ns);
    to.setEndNs(source.end_ns);
  }
  static void write(reply_builder in, const std::vector<device_info>& source) {
    write_devices(in.initDevices(static_cast<unsigned>(source.size())), source);
  }
  void write(reply_builder in, const state_list& source) { write_state(in.initState(), source); }
  void write(reply_builder in, const std::vector<task_positions>& source) {
    auto to = in.initPositions(static_cast<unsigned>(source.size()));
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setTask(as_text(source[i].task));
      to[i].setIncarnation(source[i].incarnation);
      write_positions([&] { return to[i].initPositions(); }, source[i].positions);
    }
  }
  void write(reply_builder in, const placement_report& source) {
    auto to = in.initReport();
    to.setStrategy(as_text(source.strategy));
    to.setTotalNs(source.total_ns);
    to.setFirstWorkerNs(source.first_worker_ns);
    std::vector<std::string> nodes, links;
    std::vector<double> ends, sizes;
    for (const auto& entry : source.nodes) {
      nodes.insert(nodes.end(), {entry.node, entry.op, entry.device, entry.reason});
      ends.push_back(entry.end_ns);
    }
    for (const auto& entry : source.links) {
      links.insert(links.end(), {entry.from, entry.to});
      sizes.insert(sizes.end(), {static_cast<double>(entry.tensors), entry.bytes});
    }
    auto rows = static_cast<int64_t>(source.nodes.size()),
         uses = static_cast<int64_t>(source.links.size());
    write(to.initNodes(), tensor::from_values(shape{rows, 4}, nodes));
    write(to.initEnds(), tensor::from_values(shape{rows}, ends));
    write(to.initLinks(), tensor::from_values(shape{uses, 2}, links));
    write(to.initSizes(), tensor::from_values(shape{uses, 2}, sizes));
  }

  static void write_known(capnp::List<wire::KnownPeer>::Builder to,
                          const std::vector<known_peer>& source) {
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setTask(as_text(source[i].task));
      to[i].setIncarnation(source[i].incarnation);
    }
  }

  // Costs are tensors, which may be payloads outside of the message: there is one for each node.
  template <class To, class Cost>
  void write_costs(To to, const std::vector<Cost>& source, double Cost::*duration) {
    if (source.empty())
      return;
    std::vector<std::string> nodes;
    std::vector<double> nanoseconds;
    for (const auto& cost : source) {
      nodes.push_back(cost.node);
      nanoseconds.push_back(cost.*duration);
    }
    write(to.initCostNodes(), tensor::vector(nodes));
    write(to.initCostNanoseconds(), tensor::vector(nanoseconds));
  }

  static void write_devices(capnp::List<wire::Device>::Builder to,
                            const std::vector<device_info>& source) {
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setName(as_text(source[i].name));
      to[i].setKind(as_text(source[i].kind));
      to[i].setMemoryBytes(source[i].memory_bytes);
      to[i].setDescription(as_text(source[i].description));
    }
  }

  // The list is tensors, which may be payloads outside of the message.
  void write_state(wire::StateListReply::Builder to, const state_list& source) {
    to.setLeftOut(source.omitted_entries);
    if (source.entries.empty())
      return;
    auto count = static_cast<int64_t>(source.entries.size());
    auto texts = tensor::make(dtype::string, shape{count, 6});
    auto bytes = tensor::make(dtype::u64, shape{count});
    if (!texts || !bytes) {
      failed = texts ? bytes.status() : texts.status();
      return;
    }
    auto* text = texts->data<std::string>();
    auto* size = bytes->data<uint64_t>();
    for (const auto& entry : source.entries) {
      for (const auto* text_field :
           {&entry.task, &entry.container, &entry.kind, &entry.name, &entry.holds, &entry.content})
        *text++ = *text_field;
      *size++ = entry.bytes;
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

  static void write(wire::ListEpoch::Builder to, const list_epoch& source) {
    to.setTerm(source.term);
    to.setChange(source.change);
  }

  // Positions are a tensor, which may be a payload outside of the message.
  template <class InitPositions>
  void write_positions(InitPositions init_positions, const kernel_positions& source) {
    if (source.empty())
      return;
    auto texts = tensor::make(dtype::string, shape{static_cast<int64_t>(source.size()), 2});
    if (!texts) {
      failed = texts.status();
      return;
    }
    auto* text = texts->data<std::string>();
    for (const auto& [node, position] : source) {
      *text++ = node;
      *text++ = position;
    }
    write(init_positions(), *texts);
  }

  void write(wire::Status::Builder to, const status& source) {
    to.setKind(static_cast<uint8_t>(source.kind()));
    to.setMessage(as_text(source.message().size() <= longest_text
                              ? source.message()
                              : source.message().substr(0, longest_text) + " [cut]"));
    const auto& origin = source.origin();
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

  void write(wire::Tensor::Builder to, const tensor& source) {
    if (source.empty()) {
      to.setNothing();
      return;
    }
    to.setType(static_cast<uint8_t>(source.type()));
    auto dims = to.initShape(static_cast<unsigned>(source.rank()));
    for (int axis = 0; axis < source.rank(); ++axis)
      dims.set(static_cast<unsigned>(axis), source.dims()[axis]);
    auto payload = to_payload(source);
    if (!payload) {
      failed = payload.status();
      return;
    }
    auto size = payload->bytes();
    // Inlined payloads use at most half of the message.
    if (size <= options_.inline_tensor && size <= options_.max_message / 2 - inlined_) {
      inlined_ += size;
      auto bytes = bytes_of(*payload);
      to.setInlined({reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()});
    } else {
      to.setOutside(static_cast<uint32_t>(payloads.size()));
      payloads.push_back(*std::move(payload));
    }
  }

  wire::Envelope::Builder to_;
  const encode_options& options_;
  size_t inlined_ = 0;
};

} // namespace

result<encoded_message> encode(const message& source, const encode_options& options) {
  try {
    // Small messages fit into this buffer without an allocation.
    capnp::word scratch[256] = {};
    capnp::MallocMessageBuilder builder{kj::arrayPtr(scratch, std::size(scratch))};
    auto root = builder.initRoot<wire::Envelope>();
    writer to{root, options};
    std::visit(to, source);
    TROUPE_TRY(std::move(to.failed).with_context(name_of(source)));
    auto sizes = root.initOutside(static_cast<unsigned>(to.payloads.size()));
    for (unsigned i = 0; i < sizes.size(); ++i)
      sizes.set(i, to.payloads[i].bytes());
    auto size = capnp::computeSerializedSizeInWords(builder) * sizeof(capnp::word);
    if (size > options.max_message)
      return failure(error_kind::resource_exhausted, name_of(source), ": the message has ", size,
                     " bytes, the longest allowed has ", options.max_message);
    encoded_message encoded{std::vector<std::byte>(size), std::move(to.payloads)};
    kj::ArrayOutputStream out{{reinterpret_cast<kj::byte*>(encoded.bytes.data()), size}};
    capnp::writeMessage(out, builder);
    return encoded;
  } catch (const kj::Exception& thrown) { // a text or list exceeds a limit of the format
    return failure(error_kind::resource_exhausted, name_of(source), ": ",
                   std::string_view{thrown.getDescription().cStr()});
  }
}

} // namespace troupe
