#include "troupe/serialization/wire/messages.hpp"

#include "troupe/serialization/wire/capnp_text.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/wire.capnp.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <array>

namespace troupe {
namespace {

// In the order of the variant.
constexpr std::array<std::string_view, std::variant_size_v<message>> names{
    "hello",
    "refusal",
    "register_graph",
    "register_reply",
    "deregister_graph",
    "run_step",
    "step_done",
    "cancel_step",
    "tensor_push",
    "pull",
    "ping",
    "pong",
    "goodbye",
    "container_reset",
    "reply",
    "device_list_request",
    "device_list_reply",
    "unwanted",
    "withdrawn",
    "borrow",
    "lent",
    "returned",
    "settle_step",
    "state_list_request",
    "state_list_reply",
    "positions_request",
    "positions_reply",
    "member_changes",
    "number_claim",
    "number_grant",
    "inspect_request",
    "inspect_reply",
    "drain_request",
    "probe_request",
    "probe_answer",
    "vote_request",
    "vote",
};

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
    auto peers = to.initPeers(static_cast<unsigned>(what.how.peers.size()));
    for (unsigned i = 0; i < peers.size(); ++i) {
      peers[i].setTask(as_text(what.how.peers[i].task));
      peers[i].setIncarnation(what.how.peers[i].incarnation);
    }
    auto list = to.initPartitions(static_cast<unsigned>(what.partitions.size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setDevice(as_text(what.partitions[i].device));
      write(list[i].initGraph(), what.partitions[i].graph);
      list[i].setFrame(what.partitions[i].frame);
      list[i].setFunction(what.partitions[i].function);
      list[i].setOfNode(as_text(what.partitions[i].of_node));
    }
    write_positions([&] { return to.initPositions(); }, what.how.positions);
    if (what.how.costs.empty())
      return;
    // As tensors, which may lie beside the message: there are as many as nodes.
    std::vector<std::string> nodes;
    std::vector<double> nanoseconds;
    for (const auto& one : what.how.costs) {
      nodes.push_back(one.node);
      nanoseconds.push_back(one.nanoseconds);
    }
    write(to.initCostNodes(), tensor::vector(nodes));
    write(to.initCostNanoseconds(), tensor::vector(nanoseconds));
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
    write(to.initFeeds(static_cast<unsigned>(what.feeds.size())), what.feeds);
  }
  void operator()(const step_done& what) {
    auto to = to_.initStepDone();
    to.setRequest(what.request);
    write(to.initOutcome(), what.outcome);
    write(to.initFetches(static_cast<unsigned>(what.fetches.size())), what.fetches);
    write(to.initStatistics(), what.statistics);
    to.setHolds(what.holds);
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
    auto list = to.initDevices(static_cast<unsigned>(what.devices.size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setName(as_text(what.devices[i].name));
      list[i].setKind(as_text(what.devices[i].kind));
      list[i].setMemoryBytes(what.devices[i].memory_bytes);
      list[i].setDescription(as_text(what.devices[i].description));
    }
  }

  void operator()(const state_list_request& what) { to_.setStateListRequest(what.request); }
  // As tensors, which may lie beside the message.
  void operator()(const state_list_reply& what) {
    auto to = to_.initStateListReply();
    to.setRequest(what.request);
    to.setLeftOut(what.list.left_out);
    if (what.list.entries.empty())
      return;
    auto count = static_cast<int64_t>(what.list.entries.size());
    auto texts = tensor::make(dtype::string, shape{count, 6});
    auto bytes = tensor::make(dtype::u64, shape{count});
    if (!texts || !bytes) {
      failed = texts ? bytes.status() : texts.status();
      return;
    }
    auto* text = texts->data<std::string>();
    auto* size = bytes->data<uint64_t>();
    for (const auto& one : what.list.entries) {
      for (const auto* each :
           {&one.task, &one.container, &one.kind, &one.name, &one.holds, &one.content})
        *text++ = *each;
      *size++ = one.bytes;
    }
    write(to.initTexts(), *texts);
    write(to.initBytes(), *bytes);
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

private:
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

std::string_view name_of(const message& what) noexcept { return names[what.index()]; }

bool is_for_membership(const message& what) noexcept {
  return std::holds_alternative<member_changes>(what) ||
         std::holds_alternative<number_claim>(what) || std::holds_alternative<number_grant>(what) ||
         std::holds_alternative<probe_request>(what) ||
         std::holds_alternative<probe_answer>(what) || std::holds_alternative<vote_request>(what) ||
         std::holds_alternative<vote>(what);
}

delivery delivery_of(const message& what) noexcept {
  if (std::holds_alternative<deregister_graph>(what) || std::holds_alternative<goodbye>(what) ||
      std::holds_alternative<container_reset>(what))
    return delivery::ordered;
  if (std::holds_alternative<cancel_step>(what) || std::holds_alternative<pull>(what) ||
      std::holds_alternative<unwanted>(what) || std::holds_alternative<withdrawn>(what) ||
      std::holds_alternative<borrow>(what) || std::holds_alternative<lent>(what) ||
      std::holds_alternative<returned>(what) || std::holds_alternative<ping>(what) ||
      std::holds_alternative<pong>(what) || std::holds_alternative<hello>(what) ||
      std::holds_alternative<refusal>(what))
    return delivery::urgent;
  return delivery::free;
}

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
