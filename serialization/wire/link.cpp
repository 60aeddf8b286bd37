#include "troupe/serialization/wire/link.hpp"

#include "troupe/serialization/storage/checksum.hpp"
#include "troupe/serialization/wire/build_identity.hpp"
#include "troupe/serialization/wire/link_input.hpp"
#include "troupe/serialization/wire/link_output.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;

// Before a valid hello, a peer gets only the memory that a hello needs.
constexpr size_t longest_hello = 4096;
constexpr size_t longest_reason = 2048;
// The smallest limit with which a pull message fits.
constexpr size_t shortest_limit = 1024;

std::string describe(const hello* peer) {
  if (!peer)
    return "a peer that has not introduced itself";
  if (peer->role == "task")
    return concat("/job:", peer->job, "/task:", peer->task);
  return concat("a ", peer->role);
}

// Makes a name that a peer sent safe to print.
std::string printable(std::string text) {
  constexpr size_t max_length = max_build_name;
  if (text.size() > max_length)
    text.resize(max_length);
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

std::string describe_build(const hello& peer) {
  auto name = concat("Troupe ", printable(peer.software));
  return peer.schema == 0 ? concat(name, " of a build whose hello does not name it")
                          : concat(name, ", build ", printable(peer.build), ", message schema ",
                                   to_hex(peer.schema));
}

// Fails for different schemas, whose messages would be misread.
status check_build(const hello& peer, const hello& own_hello) {
  if (peer.build.size() > max_build_name)
    return invalid("the peer names its build with ", peer.build.size(), " bytes; ", max_build_name,
                   " are the limit");
  if (peer.schema == own_hello.schema)
    return {};
  return failure(error_kind::failed_precondition,
                 "the builds at the two ends differ: ", describe(&peer), " is ",
                 describe_build(peer), "; ", describe(&own_hello), " is ",
                 describe_build(own_hello), "; run the same build at both ends");
}

status check(const hello& peer, const hello& own_hello) {
  if (peer.version != protocol_version)
    return failure(error_kind::failed_precondition, "the peer (Troupe ", peer.software,
                   ") speaks version ", peer.version, " of the protocol, this is version ",
                   protocol_version);
  if (peer.role != "task" && peer.role != "client")
    return invalid("the peer's role must be task or client, got '", peer.role, "'");
  if (peer.role == "task" && (peer.job.empty() || peer.task < 0))
    return invalid("the peer's hello names no task");
  if (peer.role == "task" && peer.task >= max_tasks_of_job)
    return invalid("the peer's hello names ", describe(&peer), "; a job has at most ",
                   max_tasks_of_job, " tasks");
  if (peer.max_message < shortest_limit)
    return invalid("the peer accepts no message of more than ", peer.max_message, " bytes");
  return check_build(peer, own_hello);
}

} // namespace

struct link::state final : link_receiver {
  state(link_options o, link_callbacks c)
      : options(std::move(o)), callbacks(std::move(c)),
        output({.queued_bytes = options.max_queued_bytes,
                .announced_bytes = options.max_announced_bytes,
                .held_bytes = options.max_held_bytes}),
        input(options, *this) {
    input.set_max_message(longest_hello);
    options.self.version = protocol_version;
    options.self.schema = wire_schema_hash();
    options.self.build = build_commit();
    options.self.max_message = options.max_message;
    options.self.max_tensor_bytes = options.max_tensor_bytes;
    auto own_hello = encode(options.self, {.max_message = longest_hello});
    if (own_hello)
      output.push_handshake(*std::move(own_hello));
    else
      failed = own_hello.status();
  }

  ~state() { revoke(); }

  void revoke() {
    if (options.memory_token)
      options.memory_token->revoke();
  }

  // Returns the limit of payload bytes that the peer accepts, and adjusts `encoding`.
  result<uint64_t> limit(encode_options& encoding) {
    std::lock_guard guard{mutex};
    TROUPE_TRY(status{failed});
    if (!peer)
      return options.max_tensor_bytes;
    encoding.max_message =
        static_cast<size_t>(std::min<uint64_t>(encoding.max_message, peer->max_message));
    return std::min(options.max_tensor_bytes, peer->max_tensor_bytes);
  }

  status send(const message& outgoing) {
    encode_options encoding{options.inline_tensor, options.max_message};
    TROUPE_ASSIGN(auto largest, limit(encoding));
    TROUPE_ASSIGN(auto encoded, encode(outgoing, encoding)); // without the lock
    uint64_t total = 0;
    for (const auto& payload : encoded.payloads)
      total += payload.bytes();
    auto order = delivery_of(outgoing);
    if (total > 0 && order != delivery::free)
      return invalid(name_of(outgoing), ": a message of this kind cannot carry a payload");
    const auto* push = std::get_if<tensor_push>(&outgoing);
    auto step = push && total > 0 ? std::optional{push->step} : std::nullopt;
    if (step && callbacks.on_announce)
      callbacks.on_announce(*step);
    std::lock_guard guard{mutex};
    TROUPE_TRY(status{failed});
    if (total > largest)
      return failure(error_kind::resource_exhausted, name_of(outgoing), ": tensors of ", total,
                     " bytes are more than ", describe(known_peer()), " accepts: ", largest);
    auto queued = output.push(std::move(encoded), order, step);
    return queued.ok() ? status{}
                       : std::move(queued).with_context(
                             concat(name_of(outgoing), " to ", describe(known_peer())));
  }

  // Ends the connection. With `notify_peer`, sends the reason to the peer.
  status fail(status reason, bool notify_peer) {
    std::lock_guard guard{mutex};
    if (!failed.ok())
      return failed;
    revoke();
    output.close();
    if (notify_peer)
      if (auto last = encode(refusal{{reason.kind(), reason.message().substr(0, longest_reason)}}))
        output.push_handshake(*std::move(last));
    failed = std::move(reason);
    return failed;
  }

  void abandon(status reason) {
    input.close();
    std::lock_guard guard{mutex};
    revoke();
    output.close();
    if (failed.ok())
      failed = std::move(reason);
  }

  template <class ReadInput>
  status receive(size_t bytes, ReadInput read_input) {
    {
      std::lock_guard guard{mutex};
      TROUPE_TRY(status{failed});
      heard = heard || bytes > 0;
    }
    return fail_if(read_input());
  }

  status fail_if(status outcome) {
    if (outcome.ok())
      return {};
    std::unique_lock lock{mutex};
    auto notify_peer = (peer || refusing) && !peer_refused;
    lock.unlock();
    return fail(std::move(outcome), notify_peer);
  }

  status review(step_id step) {
    {
      std::lock_guard guard{mutex};
      TROUPE_TRY(status{failed});
    }
    return fail_if(input.review(step));
  }

  status withdraw(step_id step) {
    std::unique_lock lock{mutex};
    TROUPE_TRY(status{failed});
    status outcome;
    for (auto transfer : output.withdraw(step))
      if (outcome)
        outcome = send_withdrawal(transfer);
    lock.unlock();
    return fail_if(std::move(outcome));
  }

  // Must be queued before later announcements, which may reuse the freed limits.
  status send_withdrawal(uint64_t transfer) {
    TROUPE_ASSIGN(auto encoded, encode(withdrawal{transfer}));
    return output.push(std::move(encoded), delivery::urgent);
  }

  status on_message(message received) override {
    if (auto* refused = std::get_if<refusal>(&received)) {
      peer_refused = true;
      auto reason = refused->reason.ok() ? failure(error_kind::unavailable, "no reason given")
                                         : refused->reason;
      return std::move(reason).with_context(
          concat(describe(known_peer()), " has ended the connection"));
    }
    if (auto* greeting = std::get_if<hello>(&received))
      return greet(std::move(*greeting));
    if (!peer)
      return invalid("the peer's first message must be hello, got ", name_of(received));
    if (auto* pulled = std::get_if<pull>(&received)) {
      std::lock_guard guard{mutex};
      return output.start(pulled->transfer);
    }
    if (auto* request = std::get_if<borrow_request>(&received))
      return lend(request->transfer);
    if (auto* payload_loan = std::get_if<loan>(&received))
      return input.on_loan(payload_loan->transfer, payload_loan->address);
    if (auto* returned_loan = std::get_if<loan_return>(&received)) {
      std::lock_guard guard{mutex};
      return output.take_back(returned_loan->transfer);
    }
    if (auto* dropped = std::get_if<cancel_pull>(&received)) {
      std::lock_guard guard{mutex};
      TROUPE_ASSIGN(auto was_waiting, output.drop(dropped->transfer));
      return was_waiting ? send_withdrawal(dropped->transfer) : status{};
    }
    if (auto* withdrawn = std::get_if<withdrawal>(&received))
      return input.on_withdrawal(withdrawn->transfer);
    if (auto* question = std::get_if<ping>(&received))
      return send(pong{question->nonce});
    if (!std::holds_alternative<pong>(received) && callbacks.on_message)
      callbacks.on_message(std::move(received));
    return {};
  }

  status lend(uint64_t transfer) {
    std::lock_guard guard{mutex};
    if (!options.memory_token)
      return output.start(transfer);
    TROUPE_ASSIGN(auto address, output.lend(transfer));
    if (!address)
      return {};
    TROUPE_ASSIGN(auto encoded, encode(loan{transfer, *address}));
    return output.push(std::move(encoded), delivery::urgent);
  }

  status send_borrow_request(uint64_t transfer) override { return send(borrow_request{transfer}); }
  status send_loan_return(uint64_t transfer) override { return send(loan_return{transfer}); }
  status send_pull(uint64_t transfer) override { return send(pull{transfer}); }
  status send_cancel_pull(uint64_t transfer) override { return send(cancel_pull{transfer}); }
  fetch_decision wanted(step_id step) override {
    return callbacks.wanted ? callbacks.wanted(step) : fetch_decision::now;
  }
  void on_lost(step_id step, status reason) override {
    if (callbacks.on_lost)
      callbacks.on_lost(step, std::move(reason));
  }

  status greet(hello received) {
    if (peer)
      return invalid("the peer says hello twice");
    refusing = true;
    TROUPE_TRY(check(received, options.self));
    if (callbacks.on_hello)
      TROUPE_TRY(callbacks.on_hello(received));
    std::lock_guard guard{mutex};
    peer = std::move(received);
    if (output.longest_message() > peer->max_message)
      return failure(error_kind::resource_exhausted, describe(known_peer()),
                     " accepts no message of more than ", peer->max_message, " bytes");
    refusing = false;
    input.open();
    output.open();
    return {};
  }

  // After a pause of this process or machine, the silence is not the peer's: subtracts most of the
  // pause from the time for which the peer was not heard.
  void discount_own_pause(clock::time_point now) {
    auto gap = now - last_tick;
    if (ticked && gap > options.timeout / 2) {
      first_tick += gap - options.timeout / 6;
      last_heard += gap - options.timeout / 6;
    }
    last_tick = now;
  }

  status tick(clock::time_point now) {
    std::unique_lock lock{mutex};
    TROUPE_TRY(status{failed});
    if (!ticked)
      first_tick = now;
    discount_own_pause(now);
    if (heard || !ticked)
      last_heard = now;
    if (written || !ticked)
      last_written = now;
    heard = written = false;
    ticked = true;
    // A peer without a hello must introduce itself in time, even if it sends some bytes.
    if (!peer && now - first_tick >= options.timeout)
      last_heard = first_tick;
    auto silence = now - last_heard;
    // Pings also without a reason to ask: a peer that reads slowly may not see earlier questions.
    // Queued output needs no ping, because it is a sign of life itself.
    auto third = options.timeout / 3;
    auto needs_ping = peer && now - last_written >= third && output.idle();
    // Asks a silent peer: its timeout, and so its ping interval, may be longer.
    if (peer && silence >= third && now - last_asked >= third) {
      needs_ping = true;
      last_asked = now;
    }
    lock.unlock();
    if (silence >= options.timeout)
      return fail(failure(error_kind::unavailable, "nothing was heard from ",
                          describe(known_peer()), " for ",
                          std::chrono::duration_cast<std::chrono::milliseconds>(silence).count(),
                          " ms"),
                  false);
    if (!needs_ping)
      return {};
    auto sent = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
    return send(ping{++nonce, sent.count()});
  }

  const hello* known_peer() const noexcept { return peer ? &*peer : nullptr; }

  link_options options;
  link_callbacks callbacks;
  std::mutex mutex; // of `output`, `peer`, `failed`, and the members that tick() reads
  link_output output;
  link_input input; // used by the reading thread
  std::optional<hello> peer;
  status failed;
  bool refusing = false; // the peer speaks the protocol, but its hello is not accepted yet
  bool peer_refused = false;
  bool heard = false;
  bool written = false;
  bool ticked = false;
  clock::time_point first_tick, last_tick, last_heard, last_written, last_asked;
  uint64_t nonce = 0;
};

link::link(link_options options, link_callbacks callbacks)
    : state_(std::make_unique<state>(std::move(options), std::move(callbacks))) {}
link::link(link&&) noexcept = default;
link& link::operator=(link&&) noexcept = default;
link::~link() = default;

status link::send(const message& outgoing) {
  if (std::holds_alternative<hello>(outgoing) || std::holds_alternative<refusal>(outgoing) ||
      std::holds_alternative<pull>(outgoing) || std::holds_alternative<cancel_pull>(outgoing) ||
      std::holds_alternative<withdrawal>(outgoing) ||
      std::holds_alternative<borrow_request>(outgoing) || std::holds_alternative<loan>(outgoing) ||
      std::holds_alternative<loan_return>(outgoing) || std::holds_alternative<ping>(outgoing) ||
      std::holds_alternative<pong>(outgoing))
    return invalid(name_of(outgoing), " is sent by the link alone");
  return state_->send(outgoing);
}

void link::abandon(status reason) { state_->abandon(std::move(reason)); }

status link::review(step_id step) { return state_->review(step); }

status link::withdraw(step_id step) { return state_->withdraw(step); }

status link::receive(std::span<const std::byte> bytes) {
  return state_->receive(bytes.size(), [&] { return state_->input.receive(bytes); });
}

std::span<std::byte> link::receive_space() const noexcept { return state_->input.receive_space(); }

status link::commit(size_t bytes) {
  return state_->receive(bytes, [&] { return state_->input.commit(bytes); });
}

void link::enable_memory_reads(memory_reader read, uint64_t from_bytes) {
  state_->input.enable_memory_reads(std::move(read), from_bytes);
}

bool link::has_lent_payloads() const noexcept { return state_->input.has_lent_payloads(); }

result<size_t> link::read_lent(size_t budget) {
  size_t total = 0;
  TROUPE_TRY(state_->receive(0, [&]() -> status {
    TROUPE_ASSIGN(total, state_->input.read_lent(budget));
    return {};
  }));
  return total;
}

size_t link::gather(std::vector<std::span<const std::byte>>& pieces, size_t window) {
  std::lock_guard guard{state_->mutex};
  return state_->output.gather(pieces, window);
}

void link::sent(size_t bytes) {
  std::lock_guard guard{state_->mutex};
  state_->output.sent(bytes);
  state_->written = state_->written || bytes > 0;
}

size_t link::fill(std::vector<char>& out, size_t window) {
  size_t total = 0;
  for (std::vector<std::span<const std::byte>> pieces; total < window; pieces.clear()) {
    auto gathered = gather(pieces, window - total);
    if (gathered == 0)
      break;
    for (auto piece : pieces) {
      auto* first = reinterpret_cast<const char*>(piece.data());
      out.insert(out.end(), first, first + piece.size());
    }
    sent(gathered);
    total += gathered;
  }
  return total;
}

bool link::idle() const noexcept {
  std::lock_guard guard{state_->mutex};
  return state_->output.idle();
}

bool link::drained() const noexcept {
  std::lock_guard guard{state_->mutex};
  return state_->output.drained();
}

link::output_sizes link::queued_output() const noexcept {
  std::lock_guard guard{state_->mutex};
  return {state_->output.queued_bytes(), state_->output.announced_bytes()};
}

status link::tick(clock::time_point now) { return state_->tick(now); }

void link::limit_input(uint64_t bytes) { state_->input.limit(bytes); }

const hello* link::peer() const noexcept {
  std::lock_guard guard{state_->mutex};
  return state_->known_peer();
}

uint64_t link::pending_bytes() const noexcept { return state_->input.pending_bytes(); }

} // namespace troupe
