// What tasks and clients say to each other over a link, as plain structs, and their bytes.
#pragma once
#include "troupe/runtime/cluster/fill_stage.hpp"
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

/// First on every connection, both ways. An end that rejects it answers `refusal` and closes.
struct hello {
  uint32_t version = protocol_version;
  std::string software; ///< "0.1.0", for people
  std::string role;     ///< "task" or "client"
  std::string job;      ///< of a task
  int32_t task = 0;
  uint64_t incarnation = 0;      ///< of a task: the later it began, the greater
  uint64_t max_message = 0;      ///< the longest message that the sender accepts; the link fills in
  uint64_t max_tensor_bytes = 0; ///< the most payload that one message may bring; likewise
  std::string cluster = {};      ///< its name; empty where it has none
  /// Of a process that lends its memory to others of its machine: its number there, and what must
  /// be found at which address (lending_token.hpp). 0: it does not.
  uint32_t process = 0;
  uint64_t token_at = 0;
  std::array<uint64_t, 2> token = {};
  std::string access_token = {}; ///< of a client that shows one; over TLS only
  /// What messages look like, which must be the same at both ends, and the commit that the sender
  /// was built from (build_identity.hpp); the link fills both in. 0 and empty in builds from before
  /// hello had them.
  uint64_t schema = 0;
  std::string build = {};
};

/// Ends a handshake that fails.
struct refusal {
  status why;
};

/// What one device of the receiving task shall run in the steps to come.
struct registered_partition {
  std::string device;
  tensor graph; ///< u8, as write_graph() made it: the receiver checks it when it reads it
  uint32_t frame = 0, function = 0; ///< as of a partition (runtime/placement/partition.hpp)
  std::string of_node = {};
};

struct node_cost {
  std::string node;
  double nanoseconds = 0;
};

/// How a task shall compile what it is registered with, and for whom.
struct registration_settings {
  uint64_t session = 0;
  std::string container = {};        ///< of variables that name none
  bool region_per_node = false;      ///< for debugging: no node shares straight-line code
  bool deterministic = false;        ///< kernels shall give the same bits for any number of threads
  bool replay = true;                ///< what a GPU is given again and again may be one launch
  bool low_priority = false;         ///< heavy work gives way to that of other steps
  std::vector<node_cost> costs = {}; ///< of nodes that were measured
  uint64_t incarnation = 0;          ///< of the task that it is meant for; 0: any
  std::vector<known_peer> peers = {}; ///< that the graph exchanges tensors with
  kernel_positions positions = {};    ///< where kernels begin that have not run yet
};

/// Master to worker; answered by register_reply.
struct register_graph {
  uint64_t request = 0;
  registration_settings how = {};
  std::vector<registered_partition> partitions = {};
};

struct register_reply {
  uint64_t request = 0;
  uint64_t handle = 0; ///< names the graph on that worker, from now on
  status outcome;
};

/// Master to worker: the graph is not needed any more. No answer.
struct deregister_graph {
  uint64_t handle = 0;
};

/// Worker to master: the graph cannot run any more, because a task that it sends to is lost. The
/// next step is to register it again, and need not fail to find out. No answer.
struct program_lost {
  uint64_t handle = 0;
};

/// Client -> one of the tasks that it reaches, each second while its steps wait for others, and
/// once when none does any more. For operators alone. No answer.
struct client_waits {
  client_wait_list waits = {};
};

/// A value and its place among the feeds or fetches of a registered graph.
struct indexed_tensor {
  uint32_t index = 0;
  tensor value;
};

/// Master to worker; answered by step_done.
struct run_step {
  uint64_t request = 0;
  uint64_t handle = 0;
  step_id step;
  uint64_t deadline_ms = 0; ///< from the moment of receipt; a century or more for none
  std::vector<indexed_tensor> feeds = {};
  bool times = false; ///< step_done shall bring statistics
  bool check_numerics = false;
  uint64_t incarnation = 0; ///< of the task that it is meant for; 0: any
  bool fills = false;   ///< it is one of those that fill the task (runtime/cluster/fill_gate.hpp)
  bool retried = false; ///< its client tries it again where it fails because of a task
};

/// Master to worker, after run_steps that fill: the task serves all from now on, or the next may
/// fill it. Answered by reply.
struct fill_end {
  uint64_t request = 0;
  bool done = false;
};

struct step_done {
  uint64_t request = 0;
  status outcome;
  std::vector<indexed_tensor> fetches;
  tensor statistics = {}; ///< u8, as write_statistics() made it; nothing where nobody asked
  /// The step was given what goes back if it fails elsewhere: settle_step or cancel_step says so.
  bool holds = false;
  fill_stage fill = fill_stage::over; ///< what the task says of being filled
};

/// Either way: the step has failed or is not wanted any more. May come before its run_step, and
/// after a step_done that `holds`.
struct cancel_step {
  step_id step;
  status why;
};

/// Master to worker, after a step_done that `holds`: the step has ended well on all tasks, and what
/// it was given is spent. Answered by `reply`, an error where it has gone back meanwhile: the
/// master tells its client of success only after that.
struct settle_step {
  step_id step;
  uint64_t request = 0;
};

/// Worker to worker: what a Send produced. May come before its run_step.
struct tensor_push {
  step_id step;
  uint32_t key = 0;  ///< the edge's number in the step
  bool dead = false; ///< comes from a branch not taken; then there is no value
  tensor value = {};
  uint64_t frame = 0, iteration = 0; ///< of a loop; 0: outside of all loops
};

/// Receiver of an announced payload to its sender: now. The link asks and answers by itself.
struct pull {
  uint64_t transfer = 0;
};

/// Receiver of an announced tensor_push to its sender: its payload is not to come. The link says so
/// by itself; the answer is `withdrawn`, unless all has left already.
struct unwanted {
  uint64_t transfer = 0; ///< the number of its first payload
};

/// Sender of an announced tensor_push to its receiver: no more of its payload comes, the message is
/// none.
struct withdrawn {
  uint64_t transfer = 0; ///< the number of its first payload
};

/// In the place of a pull, to a process of the same machine that lends its memory: I would read it
/// there. Answered by `lent`, or by chunks.
struct borrow {
  uint64_t transfer = 0;
};

/// The payload lies there, and stays until it is `returned`, or the connection ends.
struct lent {
  uint64_t transfer = 0;
  uint64_t address = 0;
};

/// What was lent is not needed any more: it was read, or is not wanted.
struct returned {
  uint64_t transfer = 0;
};

struct ping {
  uint64_t nonce = 0;
  int64_t sent_ns = 0; ///< on the sender's own clock
};

struct pong {
  uint64_t nonce = 0;
};

/// Last on a connection that its sender closes on purpose.
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
  kernel_positions go_on_from = {}; ///< they shall stand there, if there are any
};

struct positions_reply {
  uint64_t request = 0;
  uint64_t incarnation = 0; ///< of the task
  status outcome;
  kernel_positions at = {};
};

/// Whoever wonders -> task: what is there to see of that part of you? Answered by inspect_reply.
struct inspect_request {
  uint64_t request = 0;
  std::string ref; ///< inspection_ref
  uint32_t depth = 0;
  std::string only = {}; ///< kinds of parts, as inspection_scope has them
};

struct inspect_reply {
  uint64_t request = 0;
  status outcome;
  tensor tree = {}; ///< u8: JSON
};

/// Operator -> task: take nothing new, and end when what has begun has ended. Answered by reply, at
/// once.
struct drain_request {
  uint64_t request = 0;
};

/// session_request goes from a client to the task that hosts its session, and session_reply back
/// (hosted_session.hpp).

/// member_changes, number_claim, number_grant, probe_request, probe_answer, vote_request and vote
/// (runtime/cluster/member_list.hpp) go between the memberships of processes of one cluster: the
/// first either way, a claim to the coordinator, and a grant back; the coordinator asks with
/// probes, and a member that would be coordinator for votes, and both are answered.

using message =
    std::variant<hello, refusal, register_graph, register_reply, deregister_graph, run_step,
                 step_done, cancel_step, tensor_push, pull, ping, pong, goodbye, container_reset,
                 reply, device_list_request, device_list_reply, unwanted, withdrawn, borrow, lent,
                 returned, settle_step, state_list_request, state_list_reply, positions_request,
                 positions_reply, member_changes, number_claim, number_grant, inspect_request,
                 inspect_reply, drain_request, probe_request, probe_answer, vote_request, vote,
                 session_request, session_reply, fill_end, program_lost, client_waits>;

/// The struct's name: "run_step".
std::string_view name_of(const message& what) noexcept;

/// Says whether it is for the membership of the process that gets it.
bool is_for_membership(const message& what) noexcept;

/// Says whether it is for the host of sessions of the task that gets it.
bool is_for_host(const message& what) noexcept;

/// How a message may pass others that were sent before it.
enum class delivery : uint8_t {
  ordered, ///< after all that was sent before it: deregister_graph, container_reset, goodbye
  free,    ///< as soon as it is complete: whatever may bring tensors, and answers
  urgent,  ///< before everything that has not left yet, payload included
};

delivery delivery_of(const message& what) noexcept;

struct encode_options {
  size_t inline_tensor = 64 * 1024; ///< larger payloads travel outside of the message
  size_t max_message = 1024 * 1024; ///< the encoding fails rather than being longer
};

/// A message's bytes, and the payloads that travel beside it as raw bytes.
struct encoded_message {
  std::vector<std::byte> bytes;
  std::vector<tensor> outside; ///< u8, over the memory of the message's tensors of numbers
};

/// Fails with resource_exhausted for a message that is too long. Tensors must be in memory that the
/// CPU can read.
result<encoded_message> encode(const message& what, const encode_options& options = {});

/// What a receiver must know of a message before it takes memory for its payloads.
struct envelope {
  delivery order = delivery::ordered;
  std::vector<uint64_t> outside; ///< bytes of each payload
  std::optional<step_id> step;   ///< of a tensor_push: its payload can be withdrawn
};

/// Fails with data_loss. Nothing larger than `bytes` is allocated.
result<envelope> read_envelope(std::span<const std::byte> bytes);

/// `outside` are u8 tensors of the sizes that the envelope says; numbers will share their memory.
/// Fails with data_loss for whatever encode() cannot have written.
result<message> decode(std::span<const std::byte> bytes, std::span<const tensor> outside = {});

} // namespace troupe
