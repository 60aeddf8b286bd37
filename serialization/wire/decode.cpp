// Decodes messages of peers, which are untrusted: every field is checked.
#include "troupe/serialization/wire/capnp_text.hpp"
#include "troupe/serialization/wire/messages.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/read_root.hpp"
#include "troupe/serialization/wire/session_settings.hpp"

namespace troupe {
namespace {

status status_of(wire::Status::Reader from) {
  auto kind = static_cast<error_kind>(from.getKind());
  if (kind == error_kind::ok)
    return {};
  if (to_string(kind) == "unknown") // from a newer peer
    kind = error_kind::internal;
  status outcome{kind, text_of(from.getMessage())};
  outcome = std::move(outcome).with_origin(text_of(from.getOp()), text_of(from.getNode()));
  outcome =
      std::move(outcome).with_task(text_of(from.getTask())).with_incarnation(from.getIncarnation());
  return from.getStateLost() ? std::move(outcome).with_lost_state() : outcome;
}

list_epoch epoch_of(wire::ListEpoch::Reader in) { return {in.getTerm(), in.getChange()}; }

std::vector<device_info> devices_of(capnp::List<wire::Device>::Reader from) {
  std::vector<device_info> devices;
  for (auto item : from)
    devices.push_back({text_of(item.getName()), text_of(item.getKind()), item.getMemoryBytes(),
                       text_of(item.getDescription())});
  return devices;
}

message message_of(wire::Hello::Reader in) {
  return message{hello{in.getVersion(),
                       text_of(in.getSoftware()),
                       text_of(in.getRole()),
                       text_of(in.getJob()),
                       in.getTask(),
                       in.getIncarnation(),
                       in.getMaxMessage(),
                       in.getMaxTensorBytes(),
                       text_of(in.getCluster()),
                       in.getProcess(),
                       in.getTokenAt(),
                       {in.getToken0(), in.getToken1()},
                       text_of(in.getAccessToken()),
                       in.getSchema(),
                       text_of(in.getBuild())}};
}

message message_of(wire::RegisterReply::Reader in) {
  return message{register_reply{in.getRequest(), in.getHandle(), status_of(in.getOutcome())}};
}

message message_of(wire::SettleStep::Reader in) {
  return message{settle_step{{in.getSession(), in.getStep()}, in.getRequest()}};
}

message message_of(wire::CancelStep::Reader in) {
  return message{cancel_step{{in.getSession(), in.getStep()}, status_of(in.getWhy())}};
}

message message_of(wire::ContainerReset::Reader in) {
  return message{container_reset{in.getRequest(), text_of(in.getContainer())}};
}

message message_of(wire::Reply::Reader in) {
  return message{reply{in.getRequest(), status_of(in.getOutcome())}};
}

message message_of(wire::NumberClaim::Reader in) {
  return message{number_claim{text_of(in.getJob()), in.getTask(), in.getIncarnation(),
                              text_of(in.getAddress()), in.getHolds()}};
}

message message_of(wire::NumberGrant::Reader in) {
  return message{number_grant{status_of(in.getOutcome()),
                              {text_of(in.getJob()), in.getTask()},
                              in.getIncarnation(),
                              text_of(in.getAsk())}};
}

message message_of(wire::InspectRequest::Reader in) {
  return message{
      inspect_request{in.getRequest(), text_of(in.getRef()), in.getDepth(), text_of(in.getOnly())}};
}

message probe_request_of(wire::Probe::Reader in) {
  return message{probe_request{{text_of(in.getJob()), in.getTask()}, in.getIncarnation()}};
}

message probe_answer_of(wire::Probe::Reader in) {
  return message{
      probe_answer{{text_of(in.getJob()), in.getTask()}, in.getIncarnation(), in.getReached()}};
}

message message_of(wire::Vote::Reader in) { return message{vote{in.getTerm(), in.getGranted()}}; }

message message_of(wire::VoteRequest::Reader in) {
  return message{vote_request{in.getTerm(), epoch_of(in.getHas())}};
}

message message_of(wire::FillEnd::Reader in) {
  return message{initialization_end{in.getRequest(), in.getDone()}};
}

message message_of(wire::Ping::Reader in) { return message{ping{in.getNonce(), in.getSentNs()}}; }

message message_of(wire::Lent::Reader in) {
  return message{loan{in.getTransfer(), in.getAddress()}};
}

message message_of(capnp::List<wire::ClientWait>::Reader in) {
  client_waits decoded;
  for (auto wait : in)
    decoded.waits.push_back(
        {text_of(wait.getTarget()), text_of(wait.getReason()), wait.getSteps(), wait.getSeconds()});
  return message{std::move(decoded)};
}

message message_of(wire::DeviceListReply::Reader in) {
  return message{device_list_reply{in.getRequest(), devices_of(in.getDevices())}};
}

// Reads tensors, whose bytes are in the message or in its payloads.
class tensor_reader {
public:
  explicit tensor_reader(std::span<const tensor> payloads)
      : payloads_(payloads), used_(payloads.size()) {}

  // Checks that the payloads have these sizes.
  status check_payloads(capnp::List<uint64_t>::Reader sizes) const {
    if (sizes.size() != payloads_.size())
      return damaged_message(sizes.size(), " payloads belong to it, there are ", payloads_.size());
    for (unsigned i = 0; i < sizes.size(); ++i)
      if (sizes[i] != payloads_[i].bytes())
        return damaged_message("payload ", i, " must have ", sizes[i], " bytes, has ",
                               payloads_[i].bytes());
    return {};
  }

  // Checks that each payload belongs to a tensor that was read.
  status check_use_of_payloads() const {
    for (size_t i = 0; i < used_.size(); ++i)
      if (!used_[i])
        return damaged_message("payload ", i, " belongs to no tensor");
    return {};
  }

  result<std::vector<indexed_tensor>> read(capnp::List<wire::IndexedTensor>::Reader from) {
    std::vector<indexed_tensor> values;
    for (auto item : from) {
      TROUPE_ASSIGN(auto value, read(item.getValue()));
      values.push_back({item.getIndex(), std::move(value)});
    }
    return values;
  }

  result<std::vector<tensor>> read(capnp::List<wire::Tensor>::Reader from) {
    std::vector<tensor> values;
    for (auto item : from) {
      TROUPE_ASSIGN(auto value, read(item));
      values.push_back(std::move(value));
    }
    return values;
  }

  result<tensor> read(wire::Tensor::Reader from) {
    if (from.isNothing())
      return tensor{};
    auto dims = from.getShape();
    if (dims.size() > static_cast<unsigned>(max_rank))
      return damaged_message("a tensor has ", dims.size(), " axes");
    std::array<int64_t, max_rank> extents{};
    for (unsigned axis = 0; axis < dims.size(); ++axis)
      extents[axis] = dims[axis];
    std::span<const int64_t> shape_extents{extents.data(), dims.size()};
    if (from.isOutside()) {
      // Each payload once: unpacking one payload for many tensors would multiply a peer's bytes.
      if (from.getOutside() >= payloads_.size() || used_[from.getOutside()])
        return damaged_message("it has no payload ", from.getOutside(), " for this tensor");
      used_[from.getOutside()] = true;
      return from_payload(from.getType(), shape_extents, payloads_[from.getOutside()]);
    }
    if (!from.isInlined())
      return damaged_message("a tensor has a payload of unknown kind");
    auto bytes = from.getInlined();
    TROUPE_ASSIGN(auto payload, bytes_to_tensor({reinterpret_cast<const std::byte*>(bytes.begin()),
                                                 bytes.size()}));
    return from_payload(from.getType(), shape_extents, payload);
  }

  result<kernel_positions> read_positions(wire::Tensor::Reader in) {
    TROUPE_ASSIGN(auto texts, read(in));
    kernel_positions positions;
    if (texts.empty())
      return positions;
    if (texts.type() != dtype::string || texts.rank() != 2 || texts.dims()[1] != 2)
      return damaged_message("positions are ", texts.type(), texts.dims());
    const auto* text = texts.data<std::string>();
    for (int64_t i = 0; i < texts.dims()[0]; ++i, text += 2)
      positions[text[0]] = text[1];
    return positions;
  }

  template <class Cost, class From>
  result<std::vector<Cost>> read_costs(From in, double Cost::*field) {
    TROUPE_ASSIGN(tensor nodes, read(in.getCostNodes()));
    TROUPE_ASSIGN(tensor nanoseconds, read(in.getCostNanoseconds()));
    std::vector<Cost> costs;
    if (nodes.empty() && nanoseconds.empty())
      return costs;
    if (nodes.type() != dtype::string || nanoseconds.type() != dtype::f64 || nodes.rank() != 1 ||
        nodes.dims() != nanoseconds.dims())
      return damaged_message("costs are ", nodes.type(), nodes.dims(), " and ", nanoseconds.type(),
                             nanoseconds.dims());
    for (int64_t i = 0; i < nodes.elements(); ++i) {
      auto duration = nanoseconds.data<double>()[i];
      if (!(duration >= 0 && duration < 1e18))
        return damaged_message("a node has a cost of ", duration, " ns");
      Cost cost;
      cost.node = nodes.data<std::string>()[i];
      cost.*field = duration;
      costs.push_back(std::move(cost));
    }
    return costs;
  }

  // Reads a table of texts, and a table of numbers with the same number of rows.
  status read_table(wire::Tensor::Reader texts_in, int64_t text_columns,
                    wire::Tensor::Reader numbers_in, int64_t number_columns, tensor& texts,
                    tensor& numbers) {
    TROUPE_ASSIGN(texts, read(texts_in));
    TROUPE_ASSIGN(numbers, read(numbers_in));
    if (texts.type() != dtype::string || texts.rank() != 2 || texts.dims()[1] != text_columns ||
        numbers.type() != dtype::f64 || numbers.elements() != texts.dims()[0] * number_columns)
      return damaged_message("a report is ", texts.type(), texts.dims(), " and ", numbers.type(),
                             numbers.dims());
    return {};
  }

private:
  std::span<const tensor> payloads_;
  std::vector<bool> used_;
};

// Reads a message with its tensors.
class reader : private tensor_reader {
public:
  using tensor_reader::tensor_reader;

  result<message> read(wire::Envelope::Reader from) {
    TROUPE_TRY(check_payloads(from.getOutside()));
    TROUPE_ASSIGN(auto decoded, body(from));
    TROUPE_TRY(check_use_of_payloads());
    return decoded;
  }

private:
  using tensor_reader::read;

  result<message> body(wire::Envelope::Reader from) {
    switch (from.which()) {
      case wire::Envelope::HELLO: return message_of(from.getHello());
      case wire::Envelope::REFUSAL: return message{refusal{status_of(from.getRefusal())}};
      case wire::Envelope::REGISTER_GRAPH: return read(from.getRegisterGraph());
      case wire::Envelope::REGISTER_REPLY: return message_of(from.getRegisterReply());
      case wire::Envelope::DEREGISTER_GRAPH:
        return message{deregister_graph{from.getDeregisterGraph()}};
      case wire::Envelope::RUN_STEP: return read(from.getRunStep());
      case wire::Envelope::FILL_END: return message_of(from.getFillEnd());
      case wire::Envelope::PROGRAM_LOST: return message{program_lost{from.getProgramLost()}};
      case wire::Envelope::CLIENT_WAITS: return message_of(from.getClientWaits());
      case wire::Envelope::STEP_DONE: return read(from.getStepDone());
      case wire::Envelope::SETTLE_STEP: return message_of(from.getSettleStep());
      case wire::Envelope::CANCEL_STEP: return message_of(from.getCancelStep());
      case wire::Envelope::TENSOR_PUSH: return read(from.getTensorPush());
      case wire::Envelope::PULL: return message{pull{from.getPull()}};
      case wire::Envelope::UNWANTED: return message{cancel_pull{from.getUnwanted()}};
      case wire::Envelope::WITHDRAWN: return message{withdrawal{from.getWithdrawn()}};
      case wire::Envelope::PING: return message_of(from.getPing());
      case wire::Envelope::BORROW: return message{borrow_request{from.getBorrow()}};
      case wire::Envelope::LENT: return message_of(from.getLent());
      case wire::Envelope::RETURNED: return message{loan_return{from.getReturned()}};
      case wire::Envelope::PONG: return message{pong{from.getPong()}};
      case wire::Envelope::GOODBYE: return message{goodbye{text_of(from.getGoodbye())}};
      case wire::Envelope::CONTAINER_RESET: return message_of(from.getContainerReset());
      case wire::Envelope::REPLY: return message_of(from.getReply());
      case wire::Envelope::DEVICE_LIST_REQUEST:
        return message{device_list_request{from.getDeviceListRequest()}};
      case wire::Envelope::DEVICE_LIST_REPLY: return message_of(from.getDeviceListReply());
      case wire::Envelope::STATE_LIST_REQUEST:
        return message{state_list_request{from.getStateListRequest()}};
      case wire::Envelope::STATE_LIST_REPLY: return read(from.getStateListReply());
      case wire::Envelope::POSITIONS_REQUEST: return read(from.getPositionsRequest());
      case wire::Envelope::POSITIONS_REPLY: return read(from.getPositionsReply());
      case wire::Envelope::MEMBER_CHANGES: return read(from.getMemberChanges());
      case wire::Envelope::NUMBER_CLAIM: return message_of(from.getNumberClaim());
      case wire::Envelope::NUMBER_GRANT: return message_of(from.getNumberGrant());
      case wire::Envelope::INSPECT_REQUEST: return message_of(from.getInspectRequest());
      case wire::Envelope::INSPECT_REPLY: return read(from.getInspectReply());
      case wire::Envelope::DRAIN_REQUEST: return message{drain_request{from.getDrainRequest()}};
      case wire::Envelope::PROBE_REQUEST: return probe_request_of(from.getProbeRequest());
      case wire::Envelope::PROBE_ANSWER: return probe_answer_of(from.getProbeAnswer());
      case wire::Envelope::VOTE_REQUEST: return message_of(from.getVoteRequest());
      case wire::Envelope::VOTE: return message_of(from.getVote());
      case wire::Envelope::SESSION_REQUEST: return read(from.getSessionRequest());
      case wire::Envelope::SESSION_REPLY: return read(from.getSessionReply());
    }
    return damaged_message("its kind is unknown");
  }

  result<message> read(wire::RunStep::Reader in) {
    TROUPE_ASSIGN(auto feeds, read(in.getFeeds()));
    return message{run_step{in.getRequest(),
                            in.getHandle(),
                            {in.getSession(), in.getStep()},
                            in.getDeadlineMs(),
                            std::move(feeds),
                            in.getTimes(),
                            in.getTrapNonfinite(),
                            in.getIncarnation(),
                            in.getFills(),
                            in.getRetried()}};
  }

  result<message> read(wire::StepDone::Reader in) {
    TROUPE_ASSIGN(auto fetches, read(in.getFetches()));
    TROUPE_ASSIGN(auto statistics, read(in.getStatistics()));
    if (!statistics.empty() && statistics.type() != dtype::u8)
      return damaged_message("statistics are of type ", statistics.type());
    TROUPE_ASSIGN(auto fill, read_stage(in.getFill()));
    return message{step_done{in.getRequest(), status_of(in.getOutcome()), std::move(fetches),
                             std::move(statistics), in.getHolds(), fill}};
  }

  result<message> read(wire::TensorPush::Reader in) {
    TROUPE_ASSIGN(auto value, read(in.getValue()));
    return message{tensor_push{{in.getSession(), in.getStep()},
                               in.getKey(),
                               in.getDead(),
                               std::move(value),
                               in.getFrame(),
                               in.getIteration()}};
  }

  result<message> read(wire::PositionsRequest::Reader in) {
    TROUPE_ASSIGN(auto positions, read_positions(in.getGoOnFrom()));
    return message{positions_request{in.getRequest(), in.getSession(), std::move(positions)}};
  }

  result<message> read(wire::PositionsReply::Reader in) {
    TROUPE_ASSIGN(auto positions, read_positions(in.getPositions()));
    return message{positions_reply{in.getRequest(), in.getIncarnation(), status_of(in.getOutcome()),
                                   std::move(positions)}};
  }

  result<message> read(wire::InspectReply::Reader in) {
    TROUPE_ASSIGN(auto tree, read(in.getTree()));
    if (!tree.empty() && (tree.type() != dtype::u8 || tree.rank() != 1))
      return damaged_message("an inspection is ", tree.type(), tree.dims());
    return message{inspect_reply{in.getRequest(), status_of(in.getOutcome()), std::move(tree)}};
  }

  result<message> read(wire::RegisterGraph::Reader in) {
    register_graph decoded{.request = in.getRequest()};
    auto& settings = decoded.settings;
    settings.session = in.getSession();
    settings.container = text_of(in.getContainer());
    settings.region_per_node = in.getRegionPerNode();
    settings.deterministic = in.getDeterministic();
    settings.replay = !in.getNoReplay();
    settings.low_priority = in.getLowPriority();
    settings.incarnation = in.getIncarnation();
    for (auto partition : in.getPartitions()) {
      TROUPE_ASSIGN(auto graph, read(partition.getGraph()));
      if (graph.type() != dtype::u8)
        return damaged_message("a graph is of type ", graph.type());
      decoded.partitions.push_back({text_of(partition.getDevice()), std::move(graph),
                                    partition.getFrame(), partition.getFunction(),
                                    text_of(partition.getOfNode())});
    }
    for (auto peer : in.getPeers())
      settings.peers.push_back({text_of(peer.getTask()), peer.getIncarnation()});
    TROUPE_ASSIGN(settings.costs, read_costs<node_cost>(in, &node_cost::nanoseconds));
    TROUPE_ASSIGN(settings.positions, read_positions(in.getPositions()));
    return message{std::move(decoded)};
  }

  result<message> read(wire::StateListReply::Reader in) {
    TROUPE_ASSIGN(auto list, read_state(in));
    return message{state_list_reply{in.getRequest(), std::move(list), status_of(in.getOutcome())}};
  }

  result<state_list> read_state(wire::StateListReply::Reader in) {
    state_list list{.entries = {}, .omitted_entries = in.getLeftOut()};
    TROUPE_ASSIGN(auto texts, read(in.getTexts()));
    TROUPE_ASSIGN(auto bytes, read(in.getBytes()));
    if (texts.empty() && bytes.empty())
      return list;
    if (texts.type() != dtype::string || bytes.type() != dtype::u64 || bytes.rank() != 1 ||
        texts.dims() != shape{bytes.elements(), 6})
      return damaged_message("state is listed as ", texts.type(), texts.dims(), " and ",
                             bytes.type(), bytes.dims());
    const auto* text = texts.data<std::string>();
    for (int64_t i = 0; i < bytes.elements(); ++i, text += 6)
      list.entries.push_back(
          {text[0], text[1], text[2], text[3], text[4], text[5], bytes.data<uint64_t>()[i]});
    return list;
  }

  result<session_prepare> read(wire::SessionPrepare::Reader in) {
    session_prepare decoded{.low_priority = in.getLowPriority(), .explain = in.getExplain()};
    decoded.retried = in.getRetried();
    TROUPE_ASSIGN(decoded.graph, read(in.getGraph()));
    if (decoded.graph.type() != dtype::u8)
      return damaged_message("a graph is of type ", decoded.graph.type());
    for (auto target : in.getTargets())
      decoded.targets.push_back(text_of(target));
    decoded.feeds = in.getFeeds();
    TROUPE_ASSIGN(decoded.costs, read_costs<node_time>(in, &node_time::mean_ns));
    TROUPE_ASSIGN(auto devices, read(in.getCostDevices()));
    if (decoded.costs.empty() && devices.empty())
      return decoded;
    auto rows = static_cast<int64_t>(decoded.costs.size());
    if (devices.type() != dtype::string || devices.dims() != shape{rows})
      return damaged_message("devices of ", rows, " costs are ", devices.type(), devices.dims());
    for (int64_t i = 0; i < rows; ++i)
      decoded.costs[static_cast<size_t>(i)].device = devices.data<std::string>()[i];
    return decoded;
  }

  result<message> read(wire::SessionRequest::Reader in) {
    session_request decoded{.request = in.getRequest(), .deadline_ms = in.getDeadlineMs()};
    switch (in.which()) {
      case wire::SessionRequest::OPEN: {
        TROUPE_ASSIGN(decoded.content, read_settings(in.getOpen()));
        break;
      }
      case wire::SessionRequest::PREPARE: {
        TROUPE_ASSIGN(decoded.content, read(in.getPrepare()));
        break;
      }
      case wire::SessionRequest::RUN: {
        auto from = in.getRun();
        TROUPE_ASSIGN(auto feeds, read(from.getFeeds()));
        decoded.content = session_run{from.getHandle(),        std::move(feeds), from.getTimes(),
                                      from.getTrapNonfinite(), from.getFill(),   from.getKnows(),
                                      from.getRetried()};
        break;
      }
      case wire::SessionRequest::FILL_END:
        decoded.content =
            session_initialization_end{in.getFillEnd().getFill(), in.getFillEnd().getDone()};
        break;
      case wire::SessionRequest::FORGET: decoded.content = session_release{in.getForget()}; break;
      case wire::SessionRequest::RESET:
        decoded.content = session_reset{text_of(in.getReset())};
        break;
      case wire::SessionRequest::STATE_OF:
        decoded.content = session_state_of{text_of(in.getStateOf())};
        break;
      case wire::SessionRequest::DEVICES: decoded.content = session_devices{}; break;
      case wire::SessionRequest::KNOWN_DEVICES: decoded.content = session_known_devices{}; break;
      case wire::SessionRequest::STOP: decoded.content = session_stop{in.getStop()}; break;
      case wire::SessionRequest::POSITIONS: {
        TROUPE_ASSIGN(auto positions, read_positions(in.getPositions()));
        session_positions positions_query{std::move(positions)};
        for (auto task : in.getTasks())
          positions_query.tasks.push_back(text_of(task));
        decoded.content = std::move(positions_query);
        break;
      }
      default: return damaged_message("a session request is of unknown kind");
    }
    return message{std::move(decoded)};
  }

  result<session_run_result> read(wire::SessionRan::Reader in) {
    session_run_result decoded{
        .step = in.getStep(), .begin_ns = in.getBeginNs(), .end_ns = in.getEndNs()};
    TROUPE_ASSIGN(decoded.fetches, read(in.getFetches()));
    TROUPE_ASSIGN(decoded.statistics, read(in.getStatistics()));
    for (const auto& statistics : decoded.statistics)
      if (statistics.type() != dtype::u8)
        return damaged_message("statistics are of type ", statistics.type());
    return decoded;
  }

  result<placement_report> read(wire::PlacementReport::Reader in) {
    placement_report report{.strategy = text_of(in.getStrategy()),
                            .total_ns = in.getTotalNs(),
                            .first_worker_ns = in.getFirstWorkerNs()};
    tensor texts, numbers;
    TROUPE_TRY(read_table(in.getNodes(), 4, in.getEnds(), 1, texts, numbers));
    for (int64_t i = 0; i < texts.dims()[0]; ++i) {
      const auto* text = texts.data<std::string>() + 4 * i;
      report.nodes.push_back({text[0], text[1], text[2], text[3], numbers.data<double>()[i]});
    }
    TROUPE_TRY(read_table(in.getLinks(), 2, in.getSizes(), 2, texts, numbers));
    for (int64_t i = 0; i < texts.dims()[0]; ++i) {
      const auto* text = texts.data<std::string>() + 2 * i;
      const auto* number = numbers.data<double>() + 2 * i;
      if (!(number[0] >= 0 && number[0] < 1e18))
        return damaged_message("a link has ", number[0], " tensors");
      report.links.push_back({text[0], text[1], static_cast<uint64_t>(number[0]), number[1]});
    }
    return report;
  }

  result<message> read(wire::SessionReply::Reader in) {
    session_reply decoded{.request = in.getRequest(),
                          .outcome = status_of(in.getOutcome()),
                          .is_draining = in.getLeaving(),
                          .not_started = in.getNotBegun()};
    TROUPE_TRY(read_tasks(in, decoded));
    for (auto problem : in.getProblems())
      decoded.problems.push_back({text_of(problem.getTask()), status_of(problem.getWhy())});
    for (auto warning : in.getWarnings())
      decoded.warnings.push_back(text_of(warning));
    switch (in.which()) {
      case wire::SessionReply::NOTHING: break;
      case wire::SessionReply::HANDLE: decoded.content = prepared_handle{in.getHandle()}; break;
      case wire::SessionReply::RAN: {
        TROUPE_ASSIGN(decoded.content, read(in.getRan()));
        break;
      }
      case wire::SessionReply::DEVICES: decoded.content = devices_of(in.getDevices()); break;
      case wire::SessionReply::STATE: {
        TROUPE_ASSIGN(decoded.content, read_state(in.getState()));
        break;
      }
      case wire::SessionReply::POSITIONS: {
        std::vector<task_positions> positions;
        for (auto item : in.getPositions()) {
          TROUPE_ASSIGN(auto task_position, read_positions(item.getPositions()));
          positions.push_back(
              {text_of(item.getTask()), item.getIncarnation(), std::move(task_position)});
        }
        decoded.content = std::move(positions);
        break;
      }
      case wire::SessionReply::REPORT: {
        TROUPE_ASSIGN(decoded.content, read(in.getReport()));
        break;
      }
      default: return damaged_message("a session reply is of unknown kind");
    }
    return message{std::move(decoded)};
  }

  result<message> read(wire::MemberChanges::Reader in) {
    member_changes decoded{epoch_of(in.getSince()),
                           epoch_of(in.getEpoch()),
                           {},
                           {text_of(in.getCoordinatorJob()), in.getCoordinatorTask()}};
    if (decoded.coordinator.job.empty())
      decoded.coordinator = {};
    TROUPE_ASSIGN(auto texts, read(in.getTexts()));
    TROUPE_ASSIGN(auto numbers, read(in.getNumbers()));
    if (texts.empty() && numbers.empty())
      return message{std::move(decoded)};
    if (texts.type() != dtype::string || numbers.type() != dtype::u64 || texts.rank() != 2 ||
        texts.dims() != shape{texts.dims()[0], 2} || numbers.dims() != shape{texts.dims()[0], 4})
      return damaged_message("members are ", texts.type(), texts.dims(), " and ", numbers.type(),
                             numbers.dims());
    const auto* text = texts.data<std::string>();
    const auto* number = numbers.data<uint64_t>();
    for (int64_t i = 0; i < texts.dims()[0]; ++i, text += 2, number += 4) {
      if (number[0] >= max_tasks_of_job || number[2] > static_cast<uint64_t>(presence::gone))
        return damaged_message("a member is task ", number[0], " and in state ", number[2]);
      decoded.members.push_back({{text[0], static_cast<int>(number[0])},
                                 number[1],
                                 text[1],
                                 static_cast<presence>(number[2]),
                                 number[3]});
    }
    return message{std::move(decoded)};
  }
};

} // namespace

result<message> decode(std::span<const std::byte> bytes, std::span<const tensor> payloads) {
  return read_root<result<message>>(
      bytes, [&](wire::Envelope::Reader from) { return reader{payloads}.read(from); });
}

} // namespace troupe
