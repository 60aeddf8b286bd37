#include "tests/simulate/network.hpp"

#include "troupe/actors/network/dial.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/send.hpp>

#include <cerrno>
#include <cstring>

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// Socket numbers start above those of real descriptors.
constexpr int first_socket = 1'000'000'000;
int socket_of(uint64_t wire, int side) { return first_socket + static_cast<int>(2 * wire) + side; }
uint64_t wire_of(int socket) { return static_cast<uint64_t>(socket - first_socket) / 2; }
int side_of(int socket) { return (socket - first_socket) % 2; }

// The maximum number of bytes in the simulated system buffers: written and not sent, received and
// not read.
constexpr size_t send_buffer = 128 * 1024, receive_buffer = 64 * 1024;
// The same for torn reads, where writes are torn, too.
constexpr size_t torn_buffer = 3000;

} // namespace

// One end of a connection, as the stream of its exchange.
class wire_stream final : public byte_stream {
public:
  wire_stream(network& in, uint64_t id, int side) : network_(in), id_(id), side_(side) {}
  wire_stream(const wire_stream&) = delete;
  wire_stream& operator=(const wire_stream&) = delete;
  ~wire_stream() override { network_.close(id_, side_); }
  int id() const noexcept override { return socket_of(id_, side_); }
  ssize_t read(std::span<const iovec> places) override { return network_.read(id_, side_, places); }
  ssize_t write(std::span<const iovec> pieces) override {
    return network_.write(id_, side_, pieces);
  }
  void shut_down() override { shut_down_writing(); }
  void shut_down_writing() override { network_.finish(id_, side_); }
  void drop_input() override {
    char rest[4096];
    iovec place{rest, sizeof rest};
    while (read({&place, 1}) > 0)
      ;
  }

private:
  network& network_;
  uint64_t id_;
  int side_;
};

network::network(core& simulation)
    : core_(simulation), chance_(simulation.settings.seed, "network") {}
network::~network() = default;

duration network::latency() {
  return chance_.between(0us, std::chrono::microseconds{core_.settings.latency_us});
}

membership_transport network::transport(process& from_process) {
  return {.dial =
              [this, from = &from_process](
                  caf::actor_system&, dial_result request, const std::string& address,
                  std::shared_ptr<std::atomic<bool>> stop, const caf::actor& reply) {
                auto id = next_++;
                calls_.emplace(id, call{from, std::move(request), address, std::move(stop), reply});
                core_.after(latency(), [=, this] { attempt(id); });
              },
          .open =
              [this, at = &from_process](caf::actor_system&, dial_result& request,
                                         exchange_options options) {
                return attach(wire_of(request.socket->release()), 0, *at, std::move(options));
              }};
}

caf::actor network::open_accepted(uint64_t id, process& at, exchange_options options) {
  return attach(id, 1, at, std::move(options));
}

caf::actor network::attach(uint64_t id, int side, process& at, exchange_options options) {
  options.loop = at.loop();
  auto exchange = spawn_exchange(at.system(), std::make_unique<wire_stream>(*this, id, side),
                                 std::move(options));
  if (auto link = wires_.find(id); link != wires_.end()) {
    link->second.ends[side].attached = true;
    pump(id, !side);
    if (link->second.lost)
      end_of(id, side, {}, true);
  }
  return exchange;
}

void network::listen(const std::string& address, process& at, const caf::actor& listener) {
  places_[address] = {&at, at.index(), false, listener};
  // A machine that is back does not know its old connections, and resets them.
  for (auto& [id, link] : wires_)
    for (auto side : {0, 1})
      if (auto& old = link.ends[side]; old.host == at.index() && !old.owner) {
        old.silent = false;
        pump(id, side);
        pump(id, !side);
      }
}

void network::attempt(uint64_t call_id) {
  auto call_entry = calls_.find(call_id);
  if (call_entry == calls_.end())
    return;
  auto& call = call_entry->second;
  auto& to = places_[call.address];
  auto from = call.from->index();
  auto answer = [&] {
    call.from->enter(core_.now);
    caf::anon_send(call.reply, std::move(call.dialed));
    calls_.erase(call_entry);
  };
  if (*call.stop) {
    call.dialed.outcome = failure(error_kind::cancelled, "the caller has stopped the call");
    return answer();
  }
  if (to.at && !to.silent && !blocked(from, to.host) && !blocked(to.host, from)) {
    auto id = next_++;
    auto& link = wires_[id];
    link.ends[0].host = from;
    link.ends[0].owner = call.from;
    link.ends[1].host = to.host;
    link.ends[1].owner = to.at;
    link.ends[0].last = link.ends[1].last = core_.now;
    core_.tell(call.from->name(), "connect", to.at->name());
    to.at->enter(core_.now);
    caf::anon_send(to.listener, accepted{id});
    call.dialed.socket = {new socket_handle{socket_of(id, 0)}, [this](socket_handle* released) {
                            if (auto socket = released->release();
                                socket >= 0) // the socket was not used
                              close(wire_of(socket), side_of(socket));
                            delete released;
                          }};
    return answer();
  }
  if (call.dialed.single_attempt || core_.now + call.pause >= call.dialed.deadline) {
    call.dialed.outcome = failure(error_kind::unavailable, to_string(call.dialed.to),
                                  ": cannot connect to ", call.address);
    return answer();
  }
  core_.after(call.pause, [=, this] { attempt(call_id); });
  call.pause = std::min<duration>(call.pause * 2, 200ms);
}

// -- calls by exchanges ---------------------------------------------------------------------------

const network::end* network::end_at(int socket) const {
  auto link = wires_.find(wire_of(socket));
  return link == wires_.end() ? nullptr : &link->second.ends[side_of(socket)];
}

bool network::readable(int socket) const {
  const auto* local_end = end_at(socket);
  return !local_end || local_end->unread() > 0 || local_end->at_end || local_end->is_reset;
}

bool network::writable(int socket) const {
  const auto* local_end = end_at(socket);
  return !local_end || local_end->is_reset || !local_end->owner || room(*local_end) > 0;
}

// As in operating systems: a writer is not woken for a few bytes of room.
size_t network::room(const end& sender) const {
  auto capacity = core_.settings.torn ? torn_buffer : send_buffer;
  auto free = capacity - std::min(capacity, sender.unsent);
  return free < capacity / 3 ? 0 : free;
}

void network::wake(uint64_t id, int side) {
  if (const auto& local_end = wires_.at(id).ends[side]; local_end.owner)
    local_end.owner->loop()->wake(socket_of(id, side));
}

ssize_t network::read(uint64_t id, int side, std::span<const iovec> places) {
  auto link = wires_.find(id);
  if (link == wires_.end())
    return 0;
  auto& from = link->second.ends[side];
  if (from.is_reset) {
    errno = ECONNRESET;
    return -1;
  }
  if (from.unread() == 0 && from.at_end)
    return 0;
  if (from.unread() == 0) {
    errno = EAGAIN;
    return -1;
  }
  size_t total = 0;
  for (const auto& place : places) {
    auto count = std::min(place.iov_len, from.unread());
    if (count > 0)
      std::memcpy(place.iov_base, from.inbox.data() + from.read, count);
    from.read += count;
    total += count;
  }
  if (from.unread() == 0) {
    from.inbox.clear();
    from.read = 0;
    pump(id, !side); // the sender may have waited for room
  }
  return static_cast<ssize_t>(total);
}

ssize_t network::write(uint64_t id, int side, std::span<const iovec> pieces) {
  size_t offered = 0;
  for (const auto& piece : pieces)
    offered += piece.iov_len;
  auto link = wires_.find(id);
  if (link != wires_.end() && !link->second.ends[side].owner)
    return static_cast<ssize_t>(offered); // its process is gone; the bytes are dropped
  if (link == wires_.end() || link->second.ends[side].is_reset ||
      link->second.ends[side].finished) {
    errno = EPIPE;
    return -1;
  }
  auto& from = link->second.ends[side];
  auto count = std::min(offered, room(from));
  if (core_.settings.torn && count > 0)
    count = std::min<size_t>(count, 1 + chance_.below(chance_.permille(300) ? 30 : torn_buffer));
  if (count == 0) {
    TROUPE_REACHED("a buffer of what is to be sent is full");
    errno = EAGAIN;
    return -1;
  }
  segment next{core_.now + latency(), {}};
  next.bytes.reserve(count);
  for (const auto& piece : pieces) {
    const auto* bytes = static_cast<const char*>(piece.iov_base);
    next.bytes.insert(next.bytes.end(), bytes,
                      bytes + std::min(piece.iov_len, count - next.bytes.size()));
  }
  from.unsent += count;
  from.outgoing.push_back(std::move(next));
  pump(id, side);
  return static_cast<ssize_t>(count);
}

void network::finish(uint64_t id, int side) {
  auto link = wires_.find(id);
  if (link == wires_.end())
    return;
  link->second.ends[side].finished = true;
  pump(id, side);
}

void network::close(uint64_t id, int side) {
  auto link = wires_.find(id);
  if (link == wires_.end())
    return;
  auto& local_end = link->second.ends[side];
  local_end.finished = local_end.closed = true;
  local_end.inbox.clear();
  local_end.read = 0;
  pump(id, side);
  pump(id, !side); // arriving bytes find it closed
  drop_if_over(id);
}

// -- delivery -------------------------------------------------------------------------------------

// Moves bytes written by one end to the other end.
void network::pump(uint64_t id, int side) {
  auto& link = wires_.at(id);
  auto& from = link.ends[side];
  if (from.pumping || link.lost || blocked(from.host, link.ends[!side].host))
    return; // until the hosts are unblocked
  if (from.outgoing.empty()) {
    if (from.finished || (!from.owner && !from.silent))
      end_of(id, !side, latency(), !from.finished);
    return;
  }
  from.pumping = true;
  auto when = std::max(from.outgoing.front().when, from.last + chance_.between(duration{0}, 20us));
  if (core_.settings.slow_readers && chance_.permille(core_.settings.slow_readers))
    when += chance_.between(duration{0}, 50ms);
  core_.at(when, [=, this] { deliver(id, side); });
}

void network::deliver(uint64_t id, int side) {
  auto link = wires_.find(id);
  if (link == wires_.end() || link->second.lost)
    return;
  auto& from = link->second.ends[side];
  auto& to = link->second.ends[!side];
  from.pumping = false;
  if (blocked(from.host, to.host))
    return;
  if (from.outgoing.empty()) // lost with its process
    return pump(id, side);
  if (!to.owner || to.closed) { // a lost machine sends no reset
    if (!to.silent)
      end_of(id, side, latency(), true);
    return;
  }
  if (!to.attached)
    return; // until it is attached
  if (to.unread() >= (core_.settings.torn ? torn_buffer : receive_buffer)) {
    TROUPE_REACHED("a buffer of what has come is full");
    return; // until its owner has read
  }
  auto& next = from.outgoing.front();
  auto unsent_bytes = next.bytes.size() - next.taken;
  auto max_bytes =
      core_.settings.torn ? 1 + chance_.below(chance_.permille(500) ? 4 : 3000) : 64 * 1024;
  auto count = std::min<size_t>(unsent_bytes, max_bytes);
  auto begin = next.bytes.begin() + static_cast<std::ptrdiff_t>(next.taken);
  to.inbox.insert(to.inbox.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  next.taken += count;
  if (count == unsent_bytes)
    from.outgoing.pop_front();
  from.unsent -= count;
  from.last = core_.now;
  core_.tell(to.owner->name(), "bytes", count, " of ", name_of(from));
  wake(id, !side);
  wake(id, side); // there is room again
  pump(id, side);
}

void network::end_of(uint64_t id, int side, duration later, bool lost) {
  auto& local_end = wires_.at(id).ends[side];
  if (local_end.end_notified || (!local_end.attached && local_end.owner))
    return; // once, and only after an exchange is attached
  local_end.end_notified = true;
  core_.after(later, [=, this] {
    auto link = wires_.find(id);
    if (link == wires_.end())
      return;
    auto& at = link->second.ends[side];
    if (lost && at.unread() > 0)
      TROUPE_REACHED("a connection is lost with bytes that were not read");
    (lost ? at.is_reset : at.at_end) = true;
    if (at.owner && !at.closed) {
      core_.tell(at.owner->name(), lost ? "reset" : "closed", "by ",
                 name_of(link->second.ends[!side]));
      wake(id, side);
    }
    drop_if_over(id);
  });
}

void network::drop_if_over(uint64_t id) {
  auto& link = wires_.at(id);
  auto over = [](const end& at) { return !at.owner || at.closed; };
  auto& [first, second] = link.ends;
  if (over(first) && over(second) &&
      (link.lost || (first.outgoing.empty() && second.outgoing.empty()) || first.end_notified ||
       second.end_notified))
    wires_.erase(id);
}

std::string_view network::name_of(const end& which_end) const {
  return which_end.owner ? std::string_view{which_end.owner->name()} : "a lost process";
}

void network::leave(process& leaver, departure leave_mode) {
  std::erase_if(calls_, [&](const auto& entry) { return entry.second.from == &leaver; });
  for (auto& [address, place] : places_)
    if (place.at == &leaver) {
      place.at = nullptr;
      place.listener = nullptr;
      place.silent = leave_mode == departure::silent;
    }
  std::vector<uint64_t> touched;
  for (auto& [id, link] : wires_)
    for (auto& at : link.ends)
      if (at.owner == &leaver) {
        at.owner = nullptr;
        at.silent = leave_mode == departure::silent;
        if (leave_mode != departure::orderly) {
          at.outgoing.clear();
          at.unsent = 0;
        }
        touched.push_back(id);
      }
  for (auto id : touched)
    for (auto side : {0, 1})
      if (wires_.contains(id))
        pump(id, side);
  for (auto id : touched)
    if (wires_.contains(id))
      drop_if_over(id);
}

void network::move(process& mover, std::string name, size_t to) {
  mover.become(std::move(name), to);
  for (auto& [id, link] : wires_)
    for (auto& at : link.ends)
      if (at.owner == &mover)
        at.host = to;
}

void network::unblock(size_t from, size_t to) {
  auto blocked_pair = blocked_.find({from, to});
  if (blocked_pair == blocked_.end() || --blocked_pair->second > 0)
    return;
  blocked_.erase(blocked_pair);
  for (auto& [id, link] : wires_)
    for (auto side : {0, 1})
      if (link.ends[side].host == from && link.ends[!side].host == to)
        pump(id, side);
}

std::optional<std::pair<size_t, size_t>> network::lose_one(dice& chance) {
  return lose(chance, [](const wire&) { return true; });
}

std::optional<std::pair<size_t, size_t>> network::lose_between(size_t first_host,
                                                               size_t second_host, dice& chance) {
  return lose(chance, [=](const wire& link) {
    auto pair = std::pair{link.ends[0].host, link.ends[1].host};
    return pair == std::pair{first_host, second_host} || pair == std::pair{second_host, first_host};
  });
}

template <class Choose>
std::optional<std::pair<size_t, size_t>> network::lose(dice& chance, Choose choose) {
  std::vector<uint64_t> open;
  for (auto& [id, link] : wires_)
    if (!link.lost && link.ends[0].owner && link.ends[1].owner && choose(link))
      open.push_back(id);
  if (open.empty())
    return {};
  auto id = open[chance.below(open.size())];
  auto& link = wires_.at(id);
  link.lost = true;
  // One end may not be notified; it then notices the loss by the silence.
  auto deaf = chance.below(6);
  for (auto side : {0, 1})
    if (deaf != static_cast<uint64_t>(side))
      end_of(id, side, latency(), true);
  core_.tell(link.ends[0].owner->name(), "lost", "connection to ", link.ends[1].owner->name());
  return std::pair{link.ends[0].host, link.ends[1].host};
}

} // namespace troupe::simulate
