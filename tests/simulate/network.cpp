#include "tests/simulate/network.hpp"

#include "troupe/actors/network/dial.hpp"
#include "troupe/runtime/simulation.hpp"

#include <caf/send.hpp>

#include <cerrno>
#include <cstring>

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// Sockets look like descriptors that no process has.
constexpr int first_socket = 1'000'000'000;
int socket_of(uint64_t wire, int side) { return first_socket + static_cast<int>(2 * wire) + side; }
uint64_t wire_of(int socket) { return static_cast<uint64_t>(socket - first_socket) / 2; }
int side_of(int socket) { return (socket - first_socket) % 2; }

// What lies in the systems' buffers at most, written and not yet sent, come and not yet read.
constexpr size_t send_buffer = 128 * 1024, receive_buffer = 64 * 1024;
// The same where reads are torn: then writes are, too.
constexpr size_t torn_buffer = 3000;

} // namespace

// One end of a connection, for its exchange.
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
  void end() override { end_writing(); }
  void end_writing() override { network_.finish(id_, side_); }
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

network::network(core& of) : core_(of), chance_(of.with.seed, "network") {}
network::~network() = default;

duration network::latency() {
  return chance_.between(0us, std::chrono::microseconds{core_.with.latency_us});
}

membership_ways network::ways(process& of) {
  return {.dial =
              [this, from = &of](caf::actor_system&, dialed what, const std::string& address,
                                 std::shared_ptr<std::atomic<bool>> stop, const caf::actor& reply) {
                auto id = next_++;
                calls_.emplace(id, call{from, std::move(what), address, std::move(stop), reply});
                core_.after(latency(), [=, this] { attempt(id); });
              },
          .open =
              [this, at = &of](caf::actor_system&, dialed& what, exchange_options options) {
                return attach(wire_of(what.socket->release()), 0, *at, std::move(options));
              }};
}

caf::actor network::open_accepted(uint64_t id, process& at, exchange_options options) {
  return attach(id, 1, at, std::move(options));
}

caf::actor network::attach(uint64_t id, int side, process& at, exchange_options options) {
  options.loop = at.loop();
  auto made = spawn_exchange(at.system(), std::make_unique<wire_stream>(*this, id, side),
                             std::move(options));
  if (auto it = wires_.find(id); it != wires_.end()) {
    it->second.ends[side].attached = true;
    pump(id, !side);
    if (it->second.lost)
      end_of(id, side, {}, true);
  }
  return made;
}

void network::listen(const std::string& address, process& at, const caf::actor& listener) {
  places_[address] = {&at, at.index(), false, listener};
  // A machine that is back knows nothing of its old connections, and says so.
  for (auto& [id, one] : wires_)
    for (auto side : {0, 1})
      if (auto& old = one.ends[side]; old.host == at.index() && !old.owner) {
        old.silent = false;
        pump(id, side);
        pump(id, !side);
      }
}

void network::attempt(uint64_t which) {
  auto it = calls_.find(which);
  if (it == calls_.end())
    return;
  auto& one = it->second;
  auto& to = places_[one.address];
  auto from = one.from->index();
  auto answer = [&] {
    one.from->enter(core_.now);
    caf::anon_send(one.reply, std::move(one.what));
    calls_.erase(it);
  };
  if (*one.stop) {
    one.what.outcome = failure(error_kind::cancelled, "nobody waits any more");
    return answer();
  }
  if (to.at && !to.silent && !blocked(from, to.host) && !blocked(to.host, from)) {
    auto id = next_++;
    auto& made = wires_[id];
    made.ends[0].host = from;
    made.ends[0].owner = one.from;
    made.ends[1].host = to.host;
    made.ends[1].owner = to.at;
    made.ends[0].last = made.ends[1].last = core_.now;
    core_.tell(one.from->name(), "connect", to.at->name());
    to.at->enter(core_.now);
    caf::anon_send(to.listener, accepted{id});
    one.what.socket = {new socket_handle{socket_of(id, 0)}, [this](socket_handle* last) {
                         if (auto socket = last->release(); socket >= 0) // nobody has used it
                           close(wire_of(socket), side_of(socket));
                         delete last;
                       }};
    return answer();
  }
  if (one.what.once || core_.now + one.pause >= one.what.deadline) {
    one.what.outcome = failure(error_kind::unavailable, to_string(one.what.to),
                               ": cannot connect to ", one.address);
    return answer();
  }
  core_.after(one.pause, [=, this] { attempt(which); });
  one.pause = std::min<duration>(one.pause * 2, 200ms);
}

// -- what exchanges do ---------------------------------------------------------------------------

const network::end* network::end_at(int socket) const {
  auto it = wires_.find(wire_of(socket));
  return it == wires_.end() ? nullptr : &it->second.ends[side_of(socket)];
}

bool network::readable(int socket) const {
  const auto* one = end_at(socket);
  return !one || one->unread() > 0 || one->at_end || one->is_reset;
}

bool network::writable(int socket) const {
  const auto* one = end_at(socket);
  return !one || one->is_reset || !one->owner || room(*one) > 0;
}

// As systems do it: a writer is not woken for a few bytes of room.
size_t network::room(const end& of) const {
  auto most = core_.with.torn ? torn_buffer : send_buffer;
  auto left = most - std::min(most, of.unsent);
  return left < most / 3 ? 0 : left;
}

void network::rouse(uint64_t id, int side) {
  if (const auto& one = wires_.at(id).ends[side]; one.owner)
    one.owner->loop()->rouse(socket_of(id, side));
}

ssize_t network::read(uint64_t id, int side, std::span<const iovec> places) {
  auto it = wires_.find(id);
  if (it == wires_.end())
    return 0;
  auto& from = it->second.ends[side];
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
    pump(id, !side); // which may have waited for room
  }
  return static_cast<ssize_t>(total);
}

ssize_t network::write(uint64_t id, int side, std::span<const iovec> pieces) {
  size_t offered = 0;
  for (const auto& piece : pieces)
    offered += piece.iov_len;
  auto it = wires_.find(id);
  if (it != wires_.end() && !it->second.ends[side].owner)
    return static_cast<ssize_t>(offered); // its process is gone, and so is what it writes
  if (it == wires_.end() || it->second.ends[side].is_reset || it->second.ends[side].finished) {
    errno = EPIPE;
    return -1;
  }
  auto& from = it->second.ends[side];
  auto count = std::min(offered, room(from));
  if (core_.with.torn && count > 0)
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
  auto it = wires_.find(id);
  if (it == wires_.end())
    return;
  it->second.ends[side].finished = true;
  pump(id, side);
}

void network::close(uint64_t id, int side) {
  auto it = wires_.find(id);
  if (it == wires_.end())
    return;
  auto& one = it->second.ends[side];
  one.finished = one.closed = true;
  one.inbox.clear();
  one.read = 0;
  pump(id, side);
  pump(id, !side); // what comes for it finds it closed
  drop_if_over(id);
}

// -- what the network does -----------------------------------------------------------------------

// What one end has written comes to the other.
void network::pump(uint64_t id, int side) {
  auto& one = wires_.at(id);
  auto& from = one.ends[side];
  if (from.pumping || one.lost || blocked(from.host, one.ends[!side].host))
    return; // until somebody unblocks it
  if (from.outgoing.empty()) {
    if (from.finished || (!from.owner && !from.silent))
      end_of(id, !side, latency(), !from.finished);
    return;
  }
  from.pumping = true;
  auto when = std::max(from.outgoing.front().when, from.last + chance_.between(duration{0}, 20us));
  if (core_.with.slow_readers && chance_.permille(core_.with.slow_readers))
    when += chance_.between(duration{0}, 50ms);
  core_.at(when, [=, this] { deliver(id, side); });
}

void network::deliver(uint64_t id, int side) {
  auto it = wires_.find(id);
  if (it == wires_.end() || it->second.lost)
    return;
  auto& from = it->second.ends[side];
  auto& to = it->second.ends[!side];
  from.pumping = false;
  if (blocked(from.host, to.host))
    return;
  if (from.outgoing.empty()) // lost with its process
    return pump(id, side);
  if (!to.owner || to.closed) { // a machine that is gone says nothing
    if (!to.silent)
      end_of(id, side, latency(), true);
    return;
  }
  if (!to.attached)
    return; // until it is
  if (to.unread() >= (core_.with.torn ? torn_buffer : receive_buffer)) {
    TROUPE_REACHED("a buffer of what has come is full");
    return; // until its owner has read
  }
  auto& next = from.outgoing.front();
  auto left = next.bytes.size() - next.taken;
  auto most = core_.with.torn ? 1 + chance_.below(chance_.permille(500) ? 4 : 3000) : 64 * 1024;
  auto count = std::min<size_t>(left, most);
  auto begin = next.bytes.begin() + static_cast<std::ptrdiff_t>(next.taken);
  to.inbox.insert(to.inbox.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  next.taken += count;
  if (count == left)
    from.outgoing.pop_front();
  from.unsent -= count;
  from.last = core_.now;
  core_.tell(to.owner->name(), "bytes", count, " of ", name_of(from));
  rouse(id, !side);
  rouse(id, side); // there is room again
  pump(id, side);
}

void network::end_of(uint64_t id, int side, duration later, bool lost) {
  auto& one = wires_.at(id).ends[side];
  if (one.told_end || (!one.attached && one.owner))
    return; // once, and when somebody is there
  one.told_end = true;
  core_.after(later, [=, this] {
    auto it = wires_.find(id);
    if (it == wires_.end())
      return;
    auto& at = it->second.ends[side];
    if (lost && at.unread() > 0)
      TROUPE_REACHED("a connection is lost with bytes that were not read");
    (lost ? at.is_reset : at.at_end) = true;
    if (at.owner && !at.closed) {
      core_.tell(at.owner->name(), lost ? "reset" : "closed", "by ",
                 name_of(it->second.ends[!side]));
      rouse(id, side);
    }
    drop_if_over(id);
  });
}

void network::drop_if_over(uint64_t id) {
  auto& one = wires_.at(id);
  auto over = [](const end& at) { return !at.owner || at.closed; };
  auto& [first, second] = one.ends;
  if (over(first) && over(second) &&
      (one.lost || (first.outgoing.empty() && second.outgoing.empty()) || first.told_end ||
       second.told_end))
    wires_.erase(id);
}

std::string_view network::name_of(const end& one) const {
  return one.owner ? std::string_view{one.owner->name()} : "a lost process";
}

void network::leave(process& who, leaving how) {
  std::erase_if(calls_, [&](const auto& entry) { return entry.second.from == &who; });
  for (auto& [address, one] : places_)
    if (one.at == &who) {
      one.at = nullptr;
      one.listener = nullptr;
      one.silent = how == leaving::silent;
    }
  std::vector<uint64_t> touched;
  for (auto& [id, one] : wires_)
    for (auto& at : one.ends)
      if (at.owner == &who) {
        at.owner = nullptr;
        at.silent = how == leaving::silent;
        if (how != leaving::orderly) {
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

void network::move(process& who, std::string name, size_t to) {
  who.become(std::move(name), to);
  for (auto& [id, one] : wires_)
    for (auto& at : one.ends)
      if (at.owner == &who)
        at.host = to;
}

void network::unblock(size_t from, size_t to) {
  auto it = blocked_.find({from, to});
  if (it == blocked_.end() || --it->second > 0)
    return;
  blocked_.erase(it);
  for (auto& [id, one] : wires_)
    for (auto side : {0, 1})
      if (one.ends[side].host == from && one.ends[!side].host == to)
        pump(id, side);
}

std::optional<std::pair<size_t, size_t>> network::lose_one(dice& chance) {
  return lose(chance, [](const wire&) { return true; });
}

std::optional<std::pair<size_t, size_t>> network::lose_between(size_t one, size_t other,
                                                               dice& chance) {
  return lose(chance, [=](const wire& which) {
    auto pair = std::pair{which.ends[0].host, which.ends[1].host};
    return pair == std::pair{one, other} || pair == std::pair{other, one};
  });
}

template <class Choose>
std::optional<std::pair<size_t, size_t>> network::lose(dice& chance, Choose choose) {
  std::vector<uint64_t> open;
  for (auto& [id, one] : wires_)
    if (!one.lost && one.ends[0].owner && one.ends[1].owner && choose(one))
      open.push_back(id);
  if (open.empty())
    return {};
  auto id = open[chance.below(open.size())];
  auto& one = wires_.at(id);
  one.lost = true;
  // An end may not hear of it: then silence tells.
  auto deaf = chance.below(6);
  for (auto side : {0, 1})
    if (deaf != static_cast<uint64_t>(side))
      end_of(id, side, latency(), true);
  core_.tell(one.ends[0].owner->name(), "lost", "connection to ", one.ends[1].owner->name());
  return std::pair{one.ends[0].host, one.ends[1].host};
}

} // namespace troupe::simulate
