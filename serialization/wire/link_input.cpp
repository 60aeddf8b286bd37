#include "troupe/serialization/wire/link_input.hpp"

#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/wire/link.hpp"
#include "troupe/serialization/wire/link_output.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

link_input::link_input(const link_options& options, link_receiver& receiver)
    : options_(options), receiver_(receiver), reader_(options.max_message) {}

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
  held_by_step_.clear();
  to_pull_.clear();
  to_read_.clear();
  payload_bytes_ = held_bytes_ = 0;
  reading_ = {};
}

uint64_t link_input::pending_bytes() const {
  std::lock_guard guard{mutex_};
  return payload_bytes_ + held_bytes_;
}

// Reports lost tensors after releasing the lock, because the callback may call the link.
template <class Act>
status link_input::locked(Act act) {
  decltype(lost_) lost;
  status outcome;
  {
    std::lock_guard guard{mutex_};
    outcome = act();
    lost.swap(lost_);
  }
  for (auto& [step, reason] : lost)
    receiver_.on_lost(step, std::move(reason));
  return outcome;
}

status link_input::on_message(std::span<const std::byte> body, uint64_t first_transfer) {
  TROUPE_ASSIGN(auto announced, read_envelope(body));
  TROUPE_TRY(check(announced, first_transfer));
  if (!announced.payload_sizes.empty())
    return locked([&] { return hold(body, std::move(announced), first_transfer); });
  TROUPE_ASSIGN(auto decoded, decode(body));
  return receiver_.on_message(std::move(decoded));
}

// Checks an envelope before anything is allocated.
status link_input::check(const envelope& announced, uint64_t first_transfer) const {
  if (announced.payload_sizes.empty())
    return first_transfer == 0 ? status{} : invalid("a message announces payloads that it lacks");
  if (!open_)
    return invalid("the peer announces payloads before it has introduced itself");
  if (announced.order != delivery::free)
    return invalid("a message of a kind that brings no tensors announces payloads");
  if (first_transfer != next_transfer_)
    return invalid("payload ", first_transfer, " is announced, the next one is ", next_transfer_);
  auto max_bytes = std::min(options_.max_tensor_bytes, limit_);
  uint64_t total = 0;
  for (auto size : announced.payload_sizes) {
    if (size == 0)
      return invalid("an empty payload is announced");
    if (size > max_bytes || total + size > max_bytes)
      return failure(error_kind::resource_exhausted, "payloads of more than ", max_bytes,
                     " bytes are announced by one message");
    total += size;
  }
  return {};
}

status link_input::hold(std::span<const std::byte> body, envelope announced,
                        uint64_t first_transfer) {
  auto position = held_.emplace_hint(held_.end(), first_transfer, held{});
  auto& message_held = position->second;
  message_held.bytes.assign(body.begin(), body.end());
  message_held.sizes = std::move(announced.payload_sizes);
  message_held.payloads.resize(message_held.sizes.size());
  message_held.missing = message_held.sizes.size();
  message_held.step = announced.step;
  held_bytes_ += cost_of_holding(message_held.bytes.size(), message_held.sizes.size());
  if (held_.size() > 1 && held_bytes_ > options_.max_held_bytes)
    return failure(error_kind::resource_exhausted, "messages of ", held_bytes_,
                   " bytes wait for their payloads, at most ", options_.max_held_bytes, " may");
  for (size_t i = 0; i < message_held.sizes.size(); ++i)
    incoming_.emplace(first_transfer + i, incoming{position, i});
  next_transfer_ += message_held.sizes.size();
  if (message_held.step)
    held_by_step_.emplace(*message_held.step, position);
  switch (message_held.step ? receiver_.wanted(*message_held.step) : fetch_decision::now) {
    case fetch_decision::now: make_due(position); return pull_more();
    case fetch_decision::later:
      TROUPE_REACHED("a payload waits for its step to begin");
      message_held.state = held_state::early;
      return {};
    case fetch_decision::never:
      TROUPE_REACHED("a payload is announced for a step that is over");
      break;
  }
  return drop(position);
}

void link_input::make_due(held_position position) {
  position->second.state = held_state::due;
  for (size_t i = 0; i < position->second.sizes.size(); ++i) {
    incoming_.at(position->first + i).turn = next_turn_;
    to_pull_.emplace(next_turn_++, position->first + i);
  }
}

// Pulls payloads in the order in which they became due. A payload waits while other payloads use
// memory and the limit would be exceeded. Their memory is certain to be freed, because all payloads
// that became due earlier are pulled already.
status link_input::pull_more() {
  while (!to_pull_.empty()) {
    auto transfer = to_pull_.begin()->second;
    auto& next = incoming_.find(transfer)->second;
    auto& owner = next.owner->second;
    auto size = owner.sizes[next.index];
    if (payload_bytes_ != owner.memory &&
        payload_bytes_ + size > std::min(options_.max_pending_bytes, limit_))
      break;
    auto& memory = size <= options_.max_pooled_payload ? *options_.memory : heap_allocator();
    auto allocated = tensor::make(dtype::u8, shape{static_cast<int64_t>(size)}, memory);
    if (!allocated && owner.step) {
      lost_.emplace_back(*owner.step, allocated.status());
      TROUPE_TRY(drop(next.owner));
      continue;
    }
    // TODO(limit): without memory for feeds or fetches the connection ends, although only that step
    // would have to fail.
    TROUPE_ASSIGN(owner.payloads[next.index], std::move(allocated));
    payload_bytes_ += size;
    owner.memory += size;
    next.pulled = true;
    to_pull_.erase(next.turn);
    next.turn = 0;
    next.borrowed = size >= min_memory_read_;
    TROUPE_TRY(next.borrowed ? receiver_.send_borrow_request(transfer)
                             : receiver_.send_pull(transfer));
  }
  return {};
}

status link_input::review(step_id step) {
  return locked([&]() -> status {
    auto [first, last] = held_by_step_.equal_range(step);
    if (first == last)
      return {};
    auto wanted = receiver_.wanted(step);
    for (auto entry = first; entry != last; ++entry) {
      auto& message_held = entry->second->second;
      if (wanted == fetch_decision::never && message_held.state != held_state::unwanted)
        TROUPE_TRY(drop(entry->second));
      else if (wanted == fetch_decision::now && message_held.state == held_state::early)
        make_due(entry->second);
    }
    return pull_more();
  });
}

// Frees the memory of a message. The message itself stays, because parts that have left the sender
// still arrive, until all parts have arrived or the sender withdraws it.
status link_input::drop(held_position position) {
  auto& dropped = position->second;
  dropped.state = held_state::unwanted;
  payload_bytes_ -= dropped.memory;
  dropped.memory = 0;
  dropped.payloads.clear();
  for (size_t i = 0; i < dropped.sizes.size(); ++i)
    if (auto payload = incoming_.find(position->first + i); payload != incoming_.end())
      to_pull_.erase(std::exchange(payload->second.turn, 0));
  return receiver_.send_cancel_pull(position->first);
}

status link_input::on_withdrawal(uint64_t transfer) {
  return locked([&]() -> status {
    auto position = held_.find(transfer);
    if (position == held_.end() && read_memory_ && transfer != 0 && transfer < next_transfer_)
      return {}; // the payload was read in the meantime
    if (position == held_.end() || !position->second.step)
      return invalid("payload ", transfer, " is withdrawn, which begins no tensor_push");
    for (auto next = transfer; next < transfer + position->second.sizes.size(); ++next)
      if (auto payload = incoming_.find(next);
          payload != incoming_.end() && payload->second.address != 0)
        TROUPE_TRY(give_back(next, payload->second));
    take(position);
    return pull_more();
  });
}

// Removes a message from the held messages.
link_input::held link_input::take(held_position position) {
  auto taken = std::move(position->second);
  for (size_t i = 0; i < taken.sizes.size(); ++i)
    if (auto payload = incoming_.find(position->first + i); payload != incoming_.end()) {
      to_pull_.erase(payload->second.turn);
      incoming_.erase(payload);
    }
  if (taken.step) {
    auto [first, last] = held_by_step_.equal_range(*taken.step);
    held_by_step_.erase(
        std::find_if(first, last, [&](auto& entry) { return entry.second == position; }));
  }
  held_bytes_ -= cost_of_holding(taken.bytes.size(), taken.sizes.size());
  payload_bytes_ -= taken.memory;
  held_.erase(position);
  return taken;
}

result<std::byte*> link_input::chunk_target(uint64_t transfer, size_t bytes) {
  std::lock_guard guard{mutex_};
  auto entry = incoming_.find(transfer);
  if (entry == incoming_.end() || !entry->second.pulled)
    return invalid("a chunk of payload ", transfer, " arrives, which was not pulled");
  auto& next = entry->second;
  auto& owner = next.owner->second;
  if (next.address != 0)
    return invalid("a chunk of payload ", transfer, " arrives, which was lent");
  if (bytes == 0 || bytes > owner.sizes[next.index] - next.received)
    return invalid("payload ", transfer, " of ", owner.sizes[next.index], " bytes continues with ",
                   bytes, " bytes after ", next.received);
  if (owner.state == held_state::unwanted) {
    TROUPE_ASSIGN(reading_, tensor::make(dtype::u8, shape{static_cast<int64_t>(bytes)}));
    return static_cast<std::byte*>(reading_.raw());
  }
  reading_ = owner.payloads[next.index];
  return static_cast<std::byte*>(reading_.raw()) + next.received;
}

status link_input::on_chunk(uint64_t transfer, size_t bytes) {
  reading_ = {};
  return advance(transfer, bytes);
}

// Counts received bytes of a payload. Passes the message on when all payloads are complete.
status link_input::advance(uint64_t transfer, size_t bytes) {
  held ready;
  {
    std::lock_guard guard{mutex_};
    auto entry = incoming_.find(transfer);
    auto& next = entry->second;
    auto position = next.owner;
    next.received += bytes;
    if (next.received < position->second.sizes[next.index])
      return {};
    if (next.address != 0)
      TROUPE_TRY(give_back(transfer, next));
    incoming_.erase(entry);
    if (--position->second.missing > 0)
      return {};
    ready = take(position);
  }
  if (ready.state != held_state::unwanted) {
    TROUPE_ASSIGN(auto decoded, decode(ready.bytes, ready.payloads));
    ready = {}; // so that only the receiver holds the tensors' memory
    TROUPE_TRY(receiver_.on_message(std::move(decoded)));
  }
  return locked([&] { return pull_more(); });
}

// -- reads from the sender's memory

void link_input::enable_memory_reads(memory_reader read, uint64_t from_bytes) {
  std::lock_guard guard{mutex_};
  read_memory_ = std::move(read);
  min_memory_read_ = from_bytes;
}

status link_input::on_loan(uint64_t transfer, uint64_t address) {
  std::lock_guard guard{mutex_};
  auto entry = incoming_.find(transfer);
  if (entry == incoming_.end() || !entry->second.borrowed || address == 0 ||
      entry->second.received > 0)
    return invalid("payload ", transfer, " is lent, which was not requested");
  entry->second.borrowed = false; // once
  entry->second.address = address;
  to_read_.push_back(transfer);
  return {};
}

bool link_input::has_lent_payloads() const {
  std::lock_guard guard{mutex_};
  return !to_read_.empty();
}

// Reads payloads one after the other: completing one early is better than sharing the budget.
result<size_t> link_input::read_lent(size_t budget) {
  size_t total = 0;
  while (total < budget) {
    tensor keep; // keeps the memory if the message is dropped during the read
    std::span<std::byte> target;
    uint64_t transfer = 0, from = 0;
    {
      std::lock_guard guard{mutex_};
      if (to_read_.empty())
        break;
      transfer = to_read_.front();
      auto& next = incoming_.at(transfer);
      auto& owner = next.owner->second;
      if (owner.state == held_state::unwanted) {
        TROUPE_TRY(give_back(transfer, next));
        continue;
      }
      keep = owner.payloads[next.index];
      auto missing =
          std::span{static_cast<std::byte*>(keep.raw()), keep.bytes()}.subspan(next.received);
      target = missing.first(std::min(missing.size(), budget - total));
      from = next.address + next.received;
    }
    TROUPE_TRY(read_memory_(target, from));
    total += target.size();
    keep = {};
    TROUPE_TRY(advance(transfer, target.size()));
  }
  return total;
}

// Returns a loan, so that the sender may reuse the memory.
status link_input::give_back(uint64_t transfer, incoming& loan) {
  loan.address = 0;
  std::erase(to_read_, transfer);
  return receiver_.send_loan_return(transfer);
}

} // namespace troupe
