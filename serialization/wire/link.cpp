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

// A stranger gets no more of our memory than a hello needs.
constexpr size_t longest_hello = 4096;
constexpr size_t longest_reason = 2048;
// Below this not even a pull would fit.
constexpr size_t shortest_limit = 1024;

std::string describe(const hello* peer) {
  if (!peer)
    return "a peer that has not introduced itself";
  if (peer->role == "task")
    return concat("/job:", peer->job, "/task:", peer->task);
  return concat("a ", peer->role);
}

// A name that a peer gives itself, safe to print.
std::string printable(std::string text) {
  constexpr size_t longest = longest_build_name;
  if (text.size() > longest)
    text.resize(longest);
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

std::string describe_build(const hello& peer) {
  auto name = concat("Troupe ", printable(peer.software));
  return peer.schema == 0 ? concat(name, " of a build whose hello does not name it")
                          : concat(name, ", build ", printable(peer.build), ", message schema ",
                                   hex_text(peer.schema));
}

// Messages of another schema would be misread.
status check_build(const hello& peer, const hello& self) {
  if (peer.build.size() > longest_build_name)
    return invalid("the peer names its build with ", peer.build.size(), " bytes; ",
                   longest_build_name, " are the limit");
  if (peer.schema == self.schema)
    return {};
  return failure(error_kind::failed_precondition,
                 "the builds at the two ends differ: ", describe(&peer), " is ",
                 describe_build(peer), "; ", describe(&self), " is ", describe_build(self),
                 "; run the same build at both ends");
}

status check(const hello& peer, const hello& self) {
  if (peer.version != protocol_version)
    return failure(error_kind::failed_precondition, "the peer (Troupe ", peer.software,
                   ") speaks version ", peer.version, " of the protocol, this is version ",
                   protocol_version);
  if (peer.role != "task" && peer.role != "client")
    return invalid("the peer's role must be task or client, got '", peer.role, "'");
  if (peer.role == "task" && (peer.job.empty() || peer.task < 0))
    return invalid("the peer does not say which task it is");
  if (peer.role == "task" && peer.task >= max_tasks_of_job)
    return invalid("the peer says that it is ", describe(&peer), "; a job has at most ",
                   max_tasks_of_job, " tasks");
  if (peer.max_message < shortest_limit)
    return invalid("the peer accepts no message of more than ", peer.max_message, " bytes");
  return check_build(peer, self);
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
    auto first = encode(options.self, {.max_message = longest_hello});
    if (first)
      output.push_handshake(*std::move(first));
    else
      failed = first.status();
  }

  ~state() { revoke(); }

  void revoke() {
    if (options.lends)
      options.lends->revoke();
  }

  // What the peer accepts.
  result<uint64_t> limit(encode_options& encoding) {
    std::lock_guard guard{mutex};
    TROUPE_TRY(status{failed});
    if (!peer)
      return options.max_tensor_bytes;
    encoding.max_message =
        static_cast<size_t>(std::min<uint64_t>(encoding.max_message, peer->max_message));
    return std::min(options.max_tensor_bytes, peer->max_tensor_bytes);
  }

  status send(const message& what) {
    encode_options encoding{options.inline_tensor, options.max_message};
    TROUPE_ASSIGN(auto largest, limit(encoding));
    TROUPE_ASSIGN(auto encoded, encode(what, encoding)); // several threads at once
    uint64_t total = 0;
    for (const auto& payload : encoded.outside)
      total += payload.bytes();
    auto order = delivery_of(what);
    if (total > 0 && order != delivery::free)
      return invalid(name_of(what), ": a message of this kind cannot carry a payload");
    const auto* push = std::get_if<tensor_push>(&what);
    auto step = push && total > 0 ? std::optional{push->step} : std::nullopt;
    if (step && callbacks.on_announce)
      callbacks.on_announce(*step);
    std::lock_guard guard{mutex};
    TROUPE_TRY(status{failed});
    if (total > largest)
      return failure(error_kind::resource_exhausted, name_of(what), ": tensors of ", total,
                     " bytes are more than ", describe(known_peer()), " accepts: ", largest);
    auto queued = output.push(std::move(encoded), order, step);
    return queued.ok()
               ? status{}
               : std::move(queued).within(concat(name_of(what), " to ", describe(known_peer())));
  }

  // Ends the connection, and tells the peer why if it may understand.
  status fail(status why, bool tell) {
    std::lock_guard guard{mutex};
    if (!failed.ok())
      return failed;
    revoke();
    output.close();
    if (tell)
      if (auto last = encode(refusal{{why.kind(), why.message().substr(0, longest_reason)}}))
        output.push_handshake(*std::move(last));
    failed = std::move(why);
    return failed;
  }

  void abandon(status why) {
    input.close();
    std::lock_guard guard{mutex};
    revoke();
    output.close();
    if (failed.ok())
      failed = std::move(why);
  }

  template <class Take>
  status receive(size_t bytes, Take take) {
    {
      std::lock_guard guard{mutex};
      TROUPE_TRY(status{failed});
      heard = heard || bytes > 0;
    }
    return fail_if(take());
  }

  status fail_if(status outcome) {
    if (outcome.ok())
      return {};
    std::unique_lock lock{mutex};
    auto tell = (peer || refusing) && !peer_refused;
    lock.unlock();
    return fail(std::move(outcome), tell);
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
    status told;
    for (auto transfer : output.withdraw(step))
      if (told)
        told = tell_withdrawn(transfer);
    lock.unlock();
    return fail_if(std::move(told));
  }

  // Before anything is announced that takes its room.
  status tell_withdrawn(uint64_t transfer) {
    TROUPE_ASSIGN(auto encoded, encode(withdrawn{transfer}));
    return output.push(std::move(encoded), delivery::urgent);
  }

  status on_message(message what) override {
    if (auto* no = std::get_if<refusal>(&what)) {
      peer_refused = true;
      auto why = no->why.ok() ? failure(error_kind::unavailable, "no reason given") : no->why;
      return std::move(why).within(concat(describe(known_peer()), " has ended the connection"));
    }
    if (auto* first = std::get_if<hello>(&what))
      return greet(std::move(*first));
    if (!peer)
      return invalid("the peer's first message must be hello, got ", name_of(what));
    if (auto* wanted = std::get_if<pull>(&what)) {
      std::lock_guard guard{mutex};
      return output.start(wanted->transfer);
    }
    if (auto* asks = std::get_if<borrow>(&what))
      return lend(asks->transfer);
    if (auto* there = std::get_if<lent>(&what))
      return input.lent(there->transfer, there->address);
    if (auto* back = std::get_if<returned>(&what)) {
      std::lock_guard guard{mutex};
      return output.take_back(back->transfer);
    }
    if (auto* dropped = std::get_if<unwanted>(&what)) {
      std::lock_guard guard{mutex};
      TROUPE_ASSIGN(auto waited, output.drop(dropped->transfer));
      return waited ? tell_withdrawn(dropped->transfer) : status{};
    }
    if (auto* gone = std::get_if<withdrawn>(&what))
      return input.withdrawn(gone->transfer);
    if (auto* question = std::get_if<ping>(&what))
      return send(pong{question->nonce});
    if (!std::holds_alternative<pong>(what) && callbacks.on_message)
      callbacks.on_message(std::move(what));
    return {};
  }

  status lend(uint64_t transfer) {
    std::lock_guard guard{mutex};
    if (!options.lends)
      return output.start(transfer);
    TROUPE_ASSIGN(auto address, output.lend(transfer));
    if (!address)
      return {};
    TROUPE_ASSIGN(auto encoded, encode(lent{transfer, *address}));
    return output.push(std::move(encoded), delivery::urgent);
  }

  status send_borrow(uint64_t transfer) override { return send(borrow{transfer}); }
  status send_returned(uint64_t transfer) override { return send(returned{transfer}); }
  status send_pull(uint64_t transfer) override { return send(pull{transfer}); }
  status send_unwanted(uint64_t transfer) override { return send(unwanted{transfer}); }
  demand wanted(step_id step) override {
    return callbacks.wanted ? callbacks.wanted(step) : demand::now;
  }
  void on_lost(step_id step, status why) override {
    if (callbacks.on_lost)
      callbacks.on_lost(step, std::move(why));
  }

  status greet(hello who) {
    if (peer)
      return invalid("the peer says hello twice");
    refusing = true;
    TROUPE_TRY(check(who, options.self));
    if (callbacks.on_hello)
      TROUPE_TRY(callbacks.on_hello(who));
    std::lock_guard guard{mutex};
    peer = std::move(who);
    if (output.longest_message() > peer->max_message)
      return failure(error_kind::resource_exhausted, describe(known_peer()),
                     " accepts no message of more than ", peer->max_message, " bytes");
    refusing = false;
    input.open();
    output.open();
    return {};
  }

  // Who was not there to listen, because its process or its machine stood still, has heard nothing
  // and knows nothing: that time counts against the peer as if it had not been late.
  void doubt_oneself(clock::time_point now) {
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
    doubt_oneself(now);
    if (heard || !ticked)
      last_heard = now;
    if (written || !ticked)
      last_written = now;
    heard = written = false;
    ticked = true;
    // A stranger that sends a byte now and then is heard, but must not stay for ever.
    if (!peer && now - first_tick >= options.timeout)
      last_heard = first_tick;
    auto silence = now - last_heard;
    // Unasked, because a peer may be long at reading what lies before a question. What waits to be
    // written is a sign of life itself.
    auto third = options.timeout / 3;
    auto pings = peer && now - last_written >= third && output.idle();
    // Asked, because a peer with a longer timeout need not say yet that it lives.
    if (peer && silence >= third && now - last_asked >= third) {
      pings = true;
      last_asked = now;
    }
    lock.unlock();
    if (silence >= options.timeout)
      return fail(failure(error_kind::unavailable, "nothing was heard from ",
                          describe(known_peer()), " for ",
                          std::chrono::duration_cast<std::chrono::milliseconds>(silence).count(),
                          " ms"),
                  false);
    if (!pings)
      return {};
    auto sent = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
    return send(ping{++nonce, sent.count()});
  }

  const hello* known_peer() const noexcept { return peer ? &*peer : nullptr; }

  link_options options;
  link_callbacks callbacks;
  std::mutex mutex; // of `output`, `peer`, `failed`, and what tick() looks at
  link_output output;
  link_input input; // the reader's own
  std::optional<hello> peer;
  status failed;
  bool refusing = false; // the peer speaks our protocol, but we may not want it
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

status link::send(const message& what) {
  if (std::holds_alternative<hello>(what) || std::holds_alternative<refusal>(what) ||
      std::holds_alternative<pull>(what) || std::holds_alternative<unwanted>(what) ||
      std::holds_alternative<withdrawn>(what) || std::holds_alternative<borrow>(what) ||
      std::holds_alternative<lent>(what) || std::holds_alternative<returned>(what) ||
      std::holds_alternative<ping>(what) || std::holds_alternative<pong>(what))
    return invalid(name_of(what), " is sent by the link alone");
  return state_->send(what);
}

void link::abandon(status why) { state_->abandon(std::move(why)); }

status link::review(step_id step) { return state_->review(step); }

status link::withdraw(step_id step) { return state_->withdraw(step); }

status link::receive(std::span<const std::byte> bytes) {
  return state_->receive(bytes.size(), [&] { return state_->input.receive(bytes); });
}

std::span<std::byte> link::gap() const noexcept { return state_->input.gap(); }

status link::filled(size_t bytes) {
  return state_->receive(bytes, [&] { return state_->input.filled(bytes); });
}

void link::read_near(near_reader read, uint64_t from_bytes) {
  state_->input.read_near(std::move(read), from_bytes);
}

bool link::reading() const noexcept { return state_->input.reading(); }

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

link::output_sizes link::waiting() const noexcept {
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
