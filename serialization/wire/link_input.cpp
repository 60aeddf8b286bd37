#include "troupe/serialization/wire/link_input.hpp"

#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/wire/link.hpp"
#include "troupe/serialization/wire/link_output.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

link_input::link_input(const link_options& options, link_receiver& to)
    : options_(options), to_(to), reader_(options.max_message) {}

void link_input::limit(uint64_t bytes) {
  std::lock_guard guard{mutex_};
  limit_ = std::min(limit_, bytes);
}

void link_input::open() noexcept {
  open_ = true;
  reader_.set_max_message(options_.max_message);
}

void link_input::close() {
  std::lock_guard guard{mutex_};
  open_ = false;
  held_.clear();
  incoming_.clear();
  of_steps_.clear();
  to_pull_.clear();
  to_read_.clear();
  payload_bytes_ = held_bytes_ = 0;
  reading_ = {};
}

uint64_t link_input::pending_bytes() const {
  std::lock_guard guard{mutex_};
  return payload_bytes_ + held_bytes_;
}

// Who is told that a tensor is lost may ask for something else of the link: not with its lock.
template <class Act>
status link_input::locked(Act act) {
  decltype(lost_) lost;
  status outcome;
  {
    std::lock_guard guard{mutex_};
    outcome = act();
    lost.swap(lost_);
  }
  for (auto& [step, why] : lost)
    to_.on_lost(step, std::move(why));
  return outcome;
}

status link_input::on_message(std::span<const std::byte> body, uint64_t first_transfer) {
  TROUPE_ASSIGN(auto what, read_envelope(body));
  TROUPE_TRY(check(what, first_transfer));
  if (!what.outside.empty())
    return locked([&] { return hold(body, std::move(what), first_transfer); });
  TROUPE_ASSIGN(auto decoded, decode(body));
  return to_.on_message(std::move(decoded));
}

// Before anything is allocated.
status link_input::check(const envelope& what, uint64_t first_transfer) const {
  if (what.outside.empty())
    return first_transfer == 0 ? status{} : invalid("a message announces payloads that it lacks");
  if (!open_)
    return invalid("the peer announces payloads before it has introduced itself");
  if (what.order != delivery::free)
    return invalid("a message of a kind that brings no tensors announces payloads");
  if (first_transfer != next_transfer_)
    return invalid("payload ", first_transfer, " is announced, the next one is ", next_transfer_);
  auto most = std::min(options_.max_tensor_bytes, limit_);
  uint64_t total = 0;
  for (auto size : what.outside) {
    if (size == 0)
      return invalid("an empty payload is announced");
    if (size > most || total + size > most)
      return failure(error_kind::resource_exhausted, "payloads of more than ", most,
                     " bytes are announced by one message");
    total += size;
  }
  return {};
}

status link_input::hold(std::span<const std::byte> body, envelope what, uint64_t first_transfer) {
  auto which = held_.emplace_hint(held_.end(), first_transfer, held{});
  auto& made = which->second;
  made.bytes.assign(body.begin(), body.end());
  made.sizes = std::move(what.outside);
  made.payloads.resize(made.sizes.size());
  made.missing = made.sizes.size();
  made.step = what.step;
  held_bytes_ += cost_of_holding(made.bytes.size(), made.sizes.size());
  if (held_.size() > 1 && held_bytes_ > options_.max_held_bytes)
    return failure(error_kind::resource_exhausted, "messages of ", held_bytes_,
                   " bytes wait for their payloads, at most ", options_.max_held_bytes, " may");
  for (size_t i = 0; i < made.sizes.size(); ++i)
    incoming_.emplace(first_transfer + i, incoming{which, i});
  next_transfer_ += made.sizes.size();
  if (made.step)
    of_steps_.emplace(*made.step, which);
  switch (made.step ? to_.wanted(*made.step) : demand::now) {
    case demand::now: make_due(which); return pull_more();
    case demand::later:
      TROUPE_REACHED("a payload waits for its step to begin");
      made.is = fate::early;
      return {};
    case demand::never: TROUPE_REACHED("a payload is announced for a step that is over"); break;
  }
  return drop(which);
}

void link_input::make_due(place which) {
  which->second.is = fate::due;
  for (size_t i = 0; i < which->second.sizes.size(); ++i) {
    incoming_.at(which->first + i).turn = next_turn_;
    to_pull_.emplace(next_turn_++, which->first + i);
  }
}

// First due, first pulled. A payload waits while others' memory is in use and would become too
// much; that memory is freed in any case, because all that was due earlier is pulled already.
status link_input::pull_more() {
  while (!to_pull_.empty()) {
    auto transfer = to_pull_.begin()->second;
    auto& next = incoming_.find(transfer)->second;
    auto& message_of = next.of->second;
    auto size = message_of.sizes[next.index];
    if (payload_bytes_ != message_of.memory &&
        payload_bytes_ + size > std::min(options_.max_pending_bytes, limit_))
      break;
    auto& from = size <= options_.max_from_memory ? *options_.memory : heap_allocator();
    auto made = tensor::make(dtype::u8, shape{static_cast<int64_t>(size)}, from);
    if (!made && message_of.step) {
      lost_.emplace_back(*message_of.step, made.status());
      TROUPE_TRY(drop(next.of));
      continue;
    }
    // TODO(limit): without memory for feeds or fetches the connection ends; only that step would
    // have to fail.
    TROUPE_ASSIGN(message_of.payloads[next.index], std::move(made));
    payload_bytes_ += size;
    message_of.memory += size;
    next.pulled = true;
    to_pull_.erase(next.turn);
    next.turn = 0;
    next.borrowed = size >= near_from_;
    TROUPE_TRY(next.borrowed ? to_.send_borrow(transfer) : to_.send_pull(transfer));
  }
  return {};
}

status link_input::review(step_id step) {
  return locked([&]() -> status {
    auto [first, last] = of_steps_.equal_range(step);
    if (first == last)
      return {};
    auto now = to_.wanted(step);
    for (auto it = first; it != last; ++it) {
      auto& one = it->second->second;
      if (now == demand::never && one.is != fate::unwanted)
        TROUPE_TRY(drop(it->second));
      else if (now == demand::now && one.is == fate::early)
        make_due(it->second);
    }
    return pull_more();
  });
}

// Its memory goes at once. The message stays, as what has left the sender still comes, until all
// has come or the sender says that no more does.
status link_input::drop(place which) {
  auto& one = which->second;
  one.is = fate::unwanted;
  payload_bytes_ -= one.memory;
  one.memory = 0;
  one.payloads.clear();
  for (size_t i = 0; i < one.sizes.size(); ++i)
    if (auto it = incoming_.find(which->first + i); it != incoming_.end())
      to_pull_.erase(std::exchange(it->second.turn, 0));
  return to_.send_unwanted(which->first);
}

status link_input::withdrawn(uint64_t transfer) {
  return locked([&]() -> status {
    auto which = held_.find(transfer);
    if (which == held_.end() && near_ && transfer != 0 && transfer < next_transfer_)
      return {}; // it was read meanwhile
    if (which == held_.end() || !which->second.step)
      return invalid("payload ", transfer, " is withdrawn, which begins no tensor_push");
    for (auto next = transfer; next < transfer + which->second.sizes.size(); ++next)
      if (auto it = incoming_.find(next); it != incoming_.end() && it->second.address != 0)
        TROUPE_TRY(give_back(next, it->second));
    take(which);
    return pull_more();
  });
}

// It is held no more.
link_input::held link_input::take(place which) {
  auto taken = std::move(which->second);
  for (size_t i = 0; i < taken.sizes.size(); ++i)
    if (auto it = incoming_.find(which->first + i); it != incoming_.end()) {
      to_pull_.erase(it->second.turn);
      incoming_.erase(it);
    }
  if (taken.step) {
    auto [first, last] = of_steps_.equal_range(*taken.step);
    of_steps_.erase(std::find_if(first, last, [&](auto& one) { return one.second == which; }));
  }
  held_bytes_ -= cost_of_holding(taken.bytes.size(), taken.sizes.size());
  payload_bytes_ -= taken.memory;
  held_.erase(which);
  return taken;
}

result<std::byte*> link_input::chunk_target(uint64_t transfer, size_t bytes) {
  std::lock_guard guard{mutex_};
  auto found = incoming_.find(transfer);
  if (found == incoming_.end() || !found->second.pulled)
    return invalid("a chunk of payload ", transfer, " comes, which was not asked for");
  auto& next = found->second;
  auto& of = next.of->second;
  if (next.address != 0)
    return invalid("a chunk of payload ", transfer, " comes, which was lent");
  if (bytes == 0 || bytes > of.sizes[next.index] - next.received)
    return invalid("payload ", transfer, " of ", of.sizes[next.index], " bytes goes on with ",
                   bytes, " bytes after ", next.received);
  if (of.is == fate::unwanted) {
    TROUPE_ASSIGN(reading_, tensor::make(dtype::u8, shape{static_cast<int64_t>(bytes)}));
    return static_cast<std::byte*>(reading_.raw());
  }
  reading_ = of.payloads[next.index];
  return static_cast<std::byte*>(reading_.raw()) + next.received;
}

status link_input::on_chunk(uint64_t transfer, size_t bytes) {
  reading_ = {};
  return advance(transfer, bytes);
}

// So much more of it has come. All may be handed on.
status link_input::advance(uint64_t transfer, size_t bytes) {
  held ready;
  {
    std::lock_guard guard{mutex_};
    auto found = incoming_.find(transfer);
    auto& next = found->second;
    auto which = next.of;
    next.received += bytes;
    if (next.received < which->second.sizes[next.index])
      return {};
    if (next.address != 0)
      TROUPE_TRY(give_back(transfer, next));
    incoming_.erase(found);
    if (--which->second.missing > 0)
      return {};
    ready = take(which);
  }
  if (ready.is != fate::unwanted) {
    TROUPE_ASSIGN(auto decoded, decode(ready.bytes, ready.payloads));
    ready = {}; // so that the receiver owns the tensors' memory alone
    TROUPE_TRY(to_.on_message(std::move(decoded)));
  }
  return locked([&] { return pull_more(); });
}

// -- out of the sender's memory

void link_input::read_near(near_reader read, uint64_t from_bytes) {
  std::lock_guard guard{mutex_};
  near_ = std::move(read);
  near_from_ = from_bytes;
}

status link_input::lent(uint64_t transfer, uint64_t address) {
  std::lock_guard guard{mutex_};
  auto found = incoming_.find(transfer);
  if (found == incoming_.end() || !found->second.borrowed || address == 0 ||
      found->second.received > 0)
    return invalid("payload ", transfer, " is lent, which was not asked for");
  found->second.borrowed = false; // once
  found->second.address = address;
  to_read_.push_back(transfer);
  return {};
}

bool link_input::reading() const {
  std::lock_guard guard{mutex_};
  return !to_read_.empty();
}

// One after another: that one is complete soon counts for more than that all get their turn.
result<size_t> link_input::read_lent(size_t budget) {
  size_t total = 0;
  while (total < budget) {
    tensor keep; // the message may be dropped meanwhile
    std::span<std::byte> to;
    uint64_t transfer = 0, from = 0;
    {
      std::lock_guard guard{mutex_};
      if (to_read_.empty())
        break;
      transfer = to_read_.front();
      auto& next = incoming_.at(transfer);
      auto& of = next.of->second;
      if (of.is == fate::unwanted) {
        TROUPE_TRY(give_back(transfer, next));
        continue;
      }
      keep = of.payloads[next.index];
      auto rest =
          std::span{static_cast<std::byte*>(keep.raw()), keep.bytes()}.subspan(next.received);
      to = rest.first(std::min(rest.size(), budget - total));
      from = next.address + next.received;
    }
    TROUPE_TRY(near_(to, from));
    total += to.size();
    keep = {};
    TROUPE_TRY(advance(transfer, to.size()));
  }
  return total;
}

// Its sender may do with it what it likes.
status link_input::give_back(uint64_t transfer, incoming& what) {
  what.address = 0;
  std::erase(to_read_, transfer);
  return to_.send_returned(transfer);
}

} // namespace troupe
