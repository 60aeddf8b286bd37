#include "troupe/serialization/wire/link_output.hpp"

#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <algorithm>

namespace troupe {
namespace {

// What the operating system takes in one call.
constexpr size_t max_pieces = 64;
constexpr size_t small_message = 4096;

} // namespace

link_output::frame link_output::frame_of(encoded_message what, uint64_t first_transfer) {
  frame made;
  made.bytes = std::move(what.bytes);
  made.body = made.bytes;
  made.header = header_for(frame_kind::message, first_transfer, made.body);
  return made;
}

void link_output::push_handshake(encoded_message what) {
  queued_bytes_ += what.bytes.size();
  handshake_.push_back(frame_of(std::move(what), 0));
}

status link_output::check(const encoded_message& what) const {
  auto room = limits_.queued_bytes;
  if (what.outside.empty() && what.bytes.size() <= small_message)
    room *= 2;
  if (queued_bytes_ + what.bytes.size() > room)
    return failure(error_kind::resource_exhausted, queued_bytes_,
                   " bytes of messages wait already, at most ", room, " may");
  uint64_t announced = 0;
  for (const auto& payload : what.outside)
    announced += payload.bytes();
  if (announced_bytes_ > 0 && announced_bytes_ + announced > limits_.announced_bytes)
    return failure(error_kind::resource_exhausted, announced_bytes_,
                   " bytes of tensors wait already, at most ", limits_.announced_bytes, " may");
  return {};
}

status link_output::push(encoded_message what, delivery order, std::optional<step_id> step) {
  TROUPE_TRY(check(what));
  queued_bytes_ += what.bytes.size();
  for (const auto& payload : what.outside)
    announced_bytes_ += payload.bytes();
  if (order == delivery::urgent)
    urgent_.push_back(frame_of(std::move(what), 0));
  else if (order == delivery::ordered)
    last_.push_back({std::move(what), next_number_++, {}});
  else if (what.outside.empty())
    plain_.push_back({std::move(what), next_number_++, {}});
  else
    announcing_.push_back({std::move(what), next_number_++, step});
  return {};
}

void link_output::close() noexcept {
  open_ = false;
  urgent_.clear();
  plain_.clear();
  announcing_.clear();
  last_.clear();
  outgoing_.clear();
  at_peer_.clear();
  active_.clear();
  returning_.clear();
  held_by_peer_ = 0;
}

// Null for one that is gone.
result<link_output::outgoing*> link_output::asked_for(uint64_t transfer) {
  auto found = outgoing_.find(transfer);
  auto gone = found == outgoing_.end();
  if (transfer == 0 || transfer >= next_transfer_ || (!gone && found->second.pulled))
    return invalid("the peer pulls payload ", transfer, ", which does not wait to be pulled");
  if (gone) {
    TROUPE_REACHED("a withdrawn payload is pulled");
    return nullptr;
  }
  found->second.pulled = true;
  return &found->second;
}

status link_output::start(uint64_t transfer) {
  TROUPE_ASSIGN(auto* wanted, asked_for(transfer));
  if (wanted)
    active_.push_back(transfer);
  return {};
}

result<std::optional<uint64_t>> link_output::lend(uint64_t transfer) {
  TROUPE_ASSIGN(auto* wanted, asked_for(transfer));
  if (!wanted)
    return std::optional<uint64_t>{};
  wanted->lent = true;
  return std::optional{reinterpret_cast<uint64_t>(bytes_of(wanted->payload).data())};
}

status link_output::take_back(uint64_t transfer) {
  if (auto it = returning_.find(transfer); it != returning_.end()) {
    announced_bytes_ -= it->second.bytes();
    returning_.erase(it);
    return {};
  }
  auto found = outgoing_.find(transfer);
  if (found == outgoing_.end() || !found->second.lent)
    return invalid("the peer returns payload ", transfer, ", which it has not been lent");
  announced_bytes_ -= found->second.payload.bytes();
  finish(transfer);
  return {};
}

result<bool> link_output::drop(uint64_t transfer) {
  auto found = outgoing_.find(transfer);
  if (found == outgoing_.end()) {
    if (transfer == 0 || transfer >= next_transfer_)
      return invalid("the peer does not want payload ", transfer, ", which was not announced");
    TROUPE_REACHED("a payload that is not wanted has left");
    return false;
  }
  auto which = at_peer_.find(found->second.message);
  if (!which->second.step || which->second.first != transfer)
    return invalid("the peer does not want payload ", transfer, ", which begins no tensor_push");
  if (found->second.pulled)
    TROUPE_REACHED("a payload that is not wanted has left in part");
  forget(which);
  return true;
}

std::vector<uint64_t> link_output::withdraw(step_id step) {
  std::erase_if(announcing_, [&](const waiting& one) {
    if (one.step != step)
      return false;
    queued_bytes_ -= one.what.bytes.size();
    for (const auto& payload : one.what.outside)
      announced_bytes_ -= payload.bytes();
    return true;
  });
  std::vector<uint64_t> told;
  for (auto it = at_peer_.begin(); it != at_peer_.end();) {
    if (it->second.step == step) {
      TROUPE_REACHED("an announced payload is withdrawn");
      told.push_back(it->second.first);
      it = forget(it);
    } else {
      ++it;
    }
  }
  return told;
}

// What is being written of it still leaves, as a frame cannot end early.
link_output::announced_place link_output::forget(announced_place which) {
  const auto& one = which->second;
  for (auto transfer = one.first; transfer < one.first + one.count; ++transfer)
    if (auto it = outgoing_.find(transfer); it != outgoing_.end()) {
      if (it->second.lent) { // it stays until the peer has finished reading
        returning_.emplace(transfer, std::move(it->second.payload));
      } else {
        announced_bytes_ -= it->second.payload.bytes() - it->second.sent;
        if (it->second.pulled)
          std::erase(active_, transfer);
      }
      outgoing_.erase(it);
    }
  held_by_peer_ -= one.cost;
  return at_peer_.erase(which);
}

size_t link_output::gather(std::vector<std::span<const std::byte>>& pieces, size_t window) {
  size_t gathered = 0;
  auto add = [&](std::span<const std::byte> from, size_t skip) {
    auto rest = from.subspan(skip);
    rest = rest.first(std::min(rest.size(), window - gathered));
    if (!rest.empty())
      pieces.push_back(rest);
    gathered += rest.size();
  };
  for (size_t i = 0; gathered < window && pieces.size() + 2 <= max_pieces; ++i) {
    if (i == current_.size() && !start_next())
      break;
    const auto& one = current_[i];
    add(one.header, std::min(one.written, frame_header_bytes));
    add(one.body, one.written - std::min(one.written, frame_header_bytes));
  }
  return gathered;
}

void link_output::sent(size_t bytes) {
  while (bytes > 0) {
    auto& first = current_.front();
    auto taken = std::min(bytes, frame_header_bytes + first.body.size() - first.written);
    first.written += taken;
    bytes -= taken;
    if (first.written < frame_header_bytes + first.body.size())
      return;
    queued_bytes_ -= first.bytes.size();
    current_.pop_front();
  }
}

bool link_output::start_next() {
  for (auto* queue : {&handshake_, &urgent_}) {
    if (!queue->empty()) {
      current_.push_back(std::move(queue->front()));
      queue->pop_front();
      return true;
    }
    if (!open_)
      return false;
  }
  if (auto queue = next_queue()) {
    auto first = std::move((this->*queue).front());
    (this->*queue).pop_front();
    current_.push_back(announce(std::move(first)));
    return true;
  }
  if (active_.empty())
    return false;
  current_.push_back(next_chunk());
  return true;
}

// Where the oldest message stands that may leave.
std::deque<link_output::waiting> link_output::*link_output::next_queue() const noexcept {
  auto number_of = [](const std::deque<waiting>& queue) {
    return queue.empty() ? UINT64_MAX : queue.front().number;
  };
  auto plain = number_of(plain_), announcing = number_of(announcing_), last = number_of(last_);
  auto unfinished = at_peer_.empty() ? UINT64_MAX : at_peer_.begin()->first;
  if (last < std::min({plain, announcing, unfinished}))
    return &link_output::last_;
  if (announcing < UINT64_MAX) {
    const auto& what = announcing_.front().what;
    auto cost = cost_of_holding(what.bytes.size(), what.outside.size());
    auto room = held_by_peer_ == 0 || held_by_peer_ + cost <= limits_.held_bytes;
    if (room && announcing < plain)
      return &link_output::announcing_;
  }
  return plain < UINT64_MAX ? &link_output::plain_ : nullptr;
}

// From now on the peer holds the message, until its payloads have come.
link_output::frame link_output::announce(waiting what) {
  auto& payloads = what.what.outside;
  if (payloads.empty())
    return frame_of(std::move(what.what), 0);
  auto cost = cost_of_holding(what.what.bytes.size(), payloads.size());
  auto first = next_transfer_;
  at_peer_.emplace(what.number,
                   announced{payloads.size(), cost, first, payloads.size(), what.step});
  held_by_peer_ += cost;
  for (auto& payload : payloads)
    outgoing_.emplace(next_transfer_++, outgoing{std::move(payload), what.number});
  return frame_of(std::move(what.what), first);
}

link_output::frame link_output::next_chunk() {
  auto transfer = active_.front();
  active_.pop_front();
  auto found = outgoing_.find(transfer);
  auto& from = found->second;
  auto rest = bytes_of(from.payload).subspan(from.sent);
  frame made;
  made.body = rest.first(std::min(rest.size(), chunk_bytes));
  made.payload = from.payload;
  made.header = header_for(frame_kind::chunk, transfer, made.body);
  from.sent += made.body.size();
  announced_bytes_ -= made.body.size();
  if (made.body.size() < rest.size()) {
    active_.push_back(transfer);
    return made;
  }
  finish(transfer);
  return made;
}

// The peer has it, or is about to.
void link_output::finish(uint64_t transfer) {
  auto found = outgoing_.find(transfer);
  auto message = at_peer_.find(found->second.message);
  if (--message->second.missing == 0) {
    held_by_peer_ -= message->second.cost;
    at_peer_.erase(message);
  }
  outgoing_.erase(found);
}

bool link_output::idle() const noexcept {
  if (!current_.empty() || !handshake_.empty())
    return false;
  return !open_ || (urgent_.empty() && active_.empty() && !next_queue());
}

bool link_output::drained() const noexcept {
  return idle() && plain_.empty() && announcing_.empty() && last_.empty() && outgoing_.empty() &&
         returning_.empty();
}

size_t link_output::longest_message() const noexcept {
  size_t longest = 0;
  for (const auto& each : urgent_)
    longest = std::max(longest, each.bytes.size());
  for (const auto* queue : {&plain_, &announcing_, &last_})
    for (const auto& each : *queue)
      longest = std::max(longest, each.what.bytes.size());
  return longest;
}

} // namespace troupe
