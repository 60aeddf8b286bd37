// The messages between tasks and clients over a link, as structs, and their encoding.
#pragma once
#include "troupe/runtime/cluster/initialization_stage.hpp"
#include "troupe/runtime/cluster/member_list.hpp"
#include "troupe/runtime/insight/client_wait.hpp"
#include "troupe/runtime/state/kernel_positions.hpp"
#include "troupe/runtime/state/state_info.hpp"
#include "troupe/runtime/types/step_id.hpp"
#include "troupe/runtime/types/tensor.hpp"
#include "troupe/serialization/wire/hosted_session.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// 2: steps are named by session and sequence, tensors carry a frame and an iteration, hellos a
/// cluster, and requests the incarnation that they are meant for; payloads can be withdrawn.
inline constexpr uint32_t protocol_version = 2;

/// The first message of each end. A peer that rejects it answers `refusal` and closes.
struct hello {
  uint32_t version = protocol_version;
  std::string software; ///< "0.1.0", for diagnostics
  std::string role;     ///< "task" or "client"
  std::string job;      ///< of a task
  int32_t task = 0;
  uint64_t incarnation = 0;      ///< of a task: greater for a later start
  uint64_t max_message = 0;      ///< the longest message that the sender accepts; set by the link
  uint64_t max_tensor_bytes = 0; ///< the limit of the payload of one message; set by the link
  std::string cluster = {};      ///< the cluster's name; may be empty
  /// Of a process that lends its memory to other processes of its machine: its process ID, and the
  /// address and value of its token (lending_token.hpp). 0: it does not lend.
  uint32_t process_id = 0;
  uint64_t token_address = 0;
  std::array<uint64_t, 2> token = {};
  std::string access_token = {}; ///< of a client that has one; over TLS only
  /// The hash of the message schema, which must be equal at both ends, and the commit that the
  /// sender was built from (build_identity.hpp); the link sets both. 0 and empty in builds from
  /// before these fields.
  uint64_t schema = 0;
  std::string build = {};
};

/// Ends a handshake that fails.
struct refusal {
  status reason;
};

/// The partition that one device of the receiving task runs in later steps.
struct registered_partition {
  std::string device;
  tensor graph; ///< u8, as write_graph() made it; the receiver checks it on reading
  uint32_t frame = 0, function = 0; ///< as of a partition (runtime/placement/partition.hpp)
  std::string of_node = {};
};

struct node_cost {
  std::string node;
  double nanoseconds = 0;
};

/// How a task compiles a registered graph, and for which session.
struct registration_settings {
  uint64_t session = 0;
  std::string container = {};         ///< of variables that name none
  bool region_per_node = false;       ///< for debugging: each node is a region
  bool deterministic = false;         ///< kernels give the same bits for any number of threads
  bool replay = true;                 ///< repeated launches of a GPU may become one CUDA graph
  bool low_priority = false;          ///< heavy work yields to that of other steps
  std::vector<node_cost> costs = {};  ///< of measured nodes
  uint64_t incarnation = 0;           ///< of the intended task; 0: any
  std::vector<known_peer> peers = {}; ///< with which the graph exchanges tensors
  kernel_positions positions = {};    ///< the initial positions of kernels that have not run yet
};

/// Master to worker; answered by register_reply.
struct register_graph {
  uint64_t request = 0;
  registration_settings settings = {};
  std::vector<registered_partition> partitions = {};
};

struct register_reply {
  uint64_t request = 0;
  uint64_t handle = 0; ///< identifies the graph on that worker
  status outcome;
};

/// Master to worker: releases the graph. No answer.
struct deregister_graph {
  uint64_t handle = 0;
};

/// Worker to master: the graph cannot run any more, because a task that it sends to is lost. The
/// master registers it again before the next step. No answer.
struct program_lost {
  uint64_t handle = 0;
};

/// Client -> one of its tasks, each second while its steps wait for other tasks, and once when the
/// waits have ended. For operators only. No answer.
struct client_waits {
  client_wait_list waits = {};
};

/// A value and its index among the feeds or fetches of a registered graph.
struct indexed_tensor {
  uint32_t index = 0;
  tensor value;
};

/// Master to worker; answered by step_done.
struct run_step {
  uint64_t request = 0;
  uint64_t handle = 0;
  step_id step;
  uint64_t deadline_ms = 0; ///< from the time of receipt; a century or more for none
  std::vector<indexed_tensor> feeds = {};
  bool wants_statistics = false; ///< in step_done
  bool check_numerics = false;
  uint64_t incarnation = 0;      ///< of the intended task; 0: any
  bool initializes_task = false; ///< runtime/cluster/initialization_gate.hpp
  bool retried = false;          ///< the client retries the step if it fails because of a task
};

/// Master to worker, after run_steps that initialize the task: if `done`, the task serves all
/// clients from now on; else another client may initialize it. Answered by reply.
struct initialization_end {
  uint64_t request = 0;
  bool done = false;
};

struct step_done {
  uint64_t request = 0;
  status outcome;
  std::vector<indexed_tensor> fetches;
  tensor statistics = {}; ///< u8, as write_statistics() made it; empty if not requested
  /// The step took values that are given back if it fails on another task. settle_step or
  /// cancel_step ends this state.
  bool is_revocable = false;
  initialization_stage initialization =
      initialization_stage::over; ///< the task's state of initialization
};

/// Either direction: the step has failed or is cancelled. May arrive before its run_step, and after
/// a revocable step_done.
struct cancel_step {
  step_id step;
  status reason;
};

/// Master to worker, after a revocable step_done: the step has succeeded on all tasks, so that the
/// taken values are not given back. Answered by `reply`, with an error if they were given back in
/// the meantime. The master reports success to its client only after that.
struct settle_step {
  step_id step;
  uint64_t request = 0;
};

/// Worker to worker: the output of a Send. May arrive before its run_step.
struct tensor_push {
  step_id step;
  uint32_t key = 0;     ///< the edge's number in the step
  bool is_dead = false; ///< from a branch not taken; then there is no value
  tensor value = {};
  uint64_t frame = 0, iteration = 0; ///< of a loop; 0: outside of all loops
};

/// Receiver of an announced payload to its sender: requests the payload. Sent and answered by
/// links.
struct pull {
  uint64_t transfer = 0;
};

/// Receiver of an announced tensor_push to its sender: cancels the payload. Sent by links; the
/// answer is `withdrawal`, unless the whole payload has left already.
struct cancel_pull {
  uint64_t transfer = 0; ///< the number of the message's first payload
};

/// Sender of an announced tensor_push to its receiver: no more of its payload will arrive, and the
/// message is void.
struct withdrawal {
  uint64_t transfer = 0; ///< the number of the message's first payload
};

/// Instead of a pull, to a process of the same machine that lends its memory: requests to read the
/// payload there. Answered by `loan`, or by chunks.
struct borrow_request {
  uint64_t transfer = 0;
};

/// The address of a lent payload, valid until `loan_return`, or until the connection ends.
struct loan {
  uint64_t transfer = 0;
  uint64_t address = 0;
};

/// Ends a loan: the payload was read, or is not wanted.
struct loan_return {
  uint64_t transfer = 0;
};

struct ping {
  uint64_t nonce = 0;
  int64_t sent_ns = 0; ///< on the sender's clock
};

struct pong {
  uint64_t nonce = 0;
};

/// The last message on a connection that its sender closes on purpose.
struct goodbye {
  std::string reason;
};

/// Forgets the variables of a container; answered by reply.
struct container_reset {
  uint64_t request = 0;
  std::string container;
};

struct reply {
  uint64_t request = 0;
  status outcome;
};

/// Answered by device_list_reply.
struct device_list_request {
  uint64_t request = 0;
};

struct device_list_reply {
  uint64_t request = 0;
  std::vector<device_info> devices;
};

/// Answered by state_list_reply.
struct state_list_request {
  uint64_t request = 0;
};

struct state_list_reply {
  uint64_t request = 0;
  state_list list;
  status outcome = {};
};

/// Answered by positions_reply.
struct positions_request {
  uint64_t request = 0;
  uint64_t session = 0;
  kernel_positions restored_positions = {}; ///< new positions, if any
};

struct positions_reply {
  uint64_t request = 0;
  uint64_t incarnation = 0; ///< of the task
  status outcome;
  kernel_positions positions = {};
};

/// Any peer -> task: requests an inspection of a part. Answered by inspect_reply.
struct inspect_request {
  uint64_t request = 0;
  std::string ref; ///< inspection_ref
  uint32_t depth = 0;
  std::string only = {}; ///< kinds of parts, as in inspection_scope
};

struct inspect_reply {
  uint64_t request = 0;
  status outcome;
  tensor tree = {}; ///< u8: JSON
};

/// Operator -> task: accept no new work, and end when the running work has ended. Answered
/// immediately by reply.
struct drain_request {
  uint64_t request = 0;
};

/// session_request goes from a client to the task that hosts its session, and session_reply back
/// (hosted_session.hpp).

/// member_changes, number_claim, number_grant, probe_request, probe_answer, vote_request and vote
/// (runtime/cluster/member_list.hpp) are messages between the memberships of processes of one
/// cluster. Member changes go in either direction, a claim to the coordinator, and a grant back.
/// The coordinator sends probes, and a candidate for coordinator requests votes; both are answered.

using message =
    std::variant<hello, refusal, register_graph, register_reply, deregister_graph, run_step,
                 step_done, cancel_step, tensor_push, pull, ping, pong, goodbye, container_reset,
                 reply, device_list_request, device_list_reply, cancel_pull, withdrawal,
                 borrow_request, loan, loan_return, settle_step, state_list_request,
                 state_list_reply, positions_request, positions_reply, member_changes, number_claim,
                 number_grant, inspect_request, inspect_reply, drain_request, probe_request,
                 probe_answer, vote_request, vote, session_request, session_reply,
                 initialization_end, program_lost, client_waits>;

/// The struct's name: "run_step".
std::string_view name_of(const message& value) noexcept;

/// Whether the message is for the membership of the receiving process.
bool is_for_membership(const message& value) noexcept;

/// Whether the message is for the host of sessions of the receiving task.
bool is_for_host(const message& value) noexcept;

/// How a message may pass others that were sent before it.
enum class delivery : uint8_t {
  ordered, ///< after all earlier messages: deregister_graph, container_reset, goodbye
  free,    ///< as soon as it is complete: messages that may have tensors, and answers
  urgent,  ///< before everything that has not left yet, payload included
};

delivery delivery_of(const message& value) noexcept;

struct encode_options {
  size_t inline_tensor = 64 * 1024; ///< larger payloads are sent outside of the message
  size_t max_message = 1024 * 1024; ///< encoding fails for longer messages
};

/// A message's bytes, and the payloads that are sent beside it as raw bytes.
struct encoded_message {
  std::vector<std::byte> bytes;
  std::vector<tensor> payloads; ///< u8, over the memory of the message's tensors of numbers
};

/// Fails with resource_exhausted for a message that is too long. Tensors must be in host memory.
result<encoded_message> encode(const message& source, const encode_options& options = {});

/// The part of a message that a receiver needs before it allocates memory for payloads.
struct envelope {
  delivery order = delivery::ordered;
  std::vector<uint64_t> payload_sizes; ///< bytes of each payload
  std::optional<step_id> step;         ///< of a tensor_push: its payload can be withdrawn
};

/// Fails with data_loss. Nothing larger than `bytes` is allocated.
result<envelope> read_envelope(std::span<const std::byte> bytes);

/// `payloads` are u8 tensors of the sizes in the envelope; tensors of numbers will share their
/// memory. Fails with data_loss for bytes that encode() cannot have written.
result<message> decode(std::span<const std::byte> bytes, std::span<const tensor> payloads = {});

} // namespace troupe
