#include "troupe/serialization/wire/link_output.hpp"

#include "troupe/runtime/simulation.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <algorithm>

namespace troupe {
namespace {

// The maximum of pieces for one system call.
constexpr size_t max_pieces = 64;
constexpr size_t small_message = 4096;

} // namespace

link_output::frame link_output::frame_of(encoded_message encoded, uint64_t first_transfer) {
  frame framed;
  framed.bytes = std::move(encoded.bytes);
  framed.body = framed.bytes;
  framed.header = header_for(frame_kind::message, first_transfer, framed.body);
  return framed;
}

void link_output::push_handshake(encoded_message encoded) {
  queued_bytes_ += encoded.bytes.size();
  handshake_.push_back(frame_of(std::move(encoded), 0));
}

status link_output::check(const encoded_message& encoded) const {
  auto limit = limits_.queued_bytes;
  if (encoded.payloads.empty() && encoded.bytes.size() <= small_message)
    limit *= 2;
  if (queued_bytes_ + encoded.bytes.size() > limit)
    return failure(error_kind::resource_exhausted, queued_bytes_,
                   " bytes of messages are queued already, the limit is ", limit);
  uint64_t announced = 0;
  for (const auto& payload : encoded.payloads)
    announced += payload.bytes();
  if (announced_bytes_ > 0 && announced_bytes_ + announced > limits_.announced_bytes)
    return failure(error_kind::resource_exhausted, announced_bytes_,
                   " bytes of tensors are queued already, the limit is ", limits_.announced_bytes);
  return {};
}

status link_output::push(encoded_message encoded, delivery order, std::optional<step_id> step) {
  TROUPE_TRY(check(encoded));
  queued_bytes_ += encoded.bytes.size();
  for (const auto& payload : encoded.payloads)
    announced_bytes_ += payload.bytes();
  if (order == delivery::urgent)
    urgent_.push_back(frame_of(std::move(encoded), 0));
  else if (order == delivery::ordered)
    last_.push_back({std::move(encoded), next_number_++, {}});
  else if (encoded.payloads.empty())
    plain_.push_back({std::move(encoded), next_number_++, {}});
  else
    announcing_.push_back({std::move(encoded), next_number_++, step});
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

// Marks a payload as pulled. Returns null for a withdrawn payload.
result<link_output::outgoing*> link_output::mark_pulled(uint64_t transfer) {
  auto entry = outgoing_.find(transfer);
  auto is_gone = entry == outgoing_.end();
  if (transfer == 0 || transfer >= next_transfer_ || (!is_gone && entry->second.pulled))
    return invalid("the peer pulls payload ", transfer, ", which does not wait to be pulled");
  if (is_gone) {
    TROUPE_REACHED("a withdrawn payload is pulled");
    return nullptr;
  }
  entry->second.pulled = true;
  return &entry->second;
}

status link_output::start(uint64_t transfer) {
  TROUPE_ASSIGN(auto* pulled, mark_pulled(transfer));
  if (pulled)
    active_.push_back(transfer);
  return {};
}

result<std::optional<uint64_t>> link_output::lend(uint64_t transfer) {
  TROUPE_ASSIGN(auto* pulled, mark_pulled(transfer));
  if (!pulled)
    return std::optional<uint64_t>{};
  pulled->lent = true;
  return std::optional{reinterpret_cast<uint64_t>(bytes_of(pulled->payload).data())};
}

status link_output::take_back(uint64_t transfer) {
  if (auto withdrawn_loan = returning_.find(transfer); withdrawn_loan != returning_.end()) {
    announced_bytes_ -= withdrawn_loan->second.bytes();
    returning_.erase(withdrawn_loan);
    return {};
  }
  auto entry = outgoing_.find(transfer);
  if (entry == outgoing_.end() || !entry->second.lent)
    return invalid("the peer returns payload ", transfer, ", which was not lent");
  announced_bytes_ -= entry->second.payload.bytes();
  finish(transfer);
  return {};
}

result<bool> link_output::drop(uint64_t transfer) {
  auto entry = outgoing_.find(transfer);
  if (entry == outgoing_.end()) {
    if (transfer == 0 || transfer >= next_transfer_)
      return invalid("the peer declined payload ", transfer, ", which was not announced");
    TROUPE_REACHED("a payload that is not wanted has left");
    return false;
  }
  auto position = at_peer_.find(entry->second.message);
  if (!position->second.step || position->second.first != transfer)
    return invalid("the peer declined payload ", transfer, ", which begins no tensor_push");
  if (entry->second.pulled)
    TROUPE_REACHED("a payload that is not wanted has left in part");
  forget(position);
  return true;
}

std::vector<uint64_t> link_output::withdraw(step_id step) {
  std::erase_if(announcing_, [&](const waiting& queued) {
    if (queued.step != step)
      return false;
    queued_bytes_ -= queued.encoded.bytes.size();
    for (const auto& payload : queued.encoded.payloads)
      announced_bytes_ -= payload.bytes();
    return true;
  });
  std::vector<uint64_t> withdrawn;
  for (auto entry = at_peer_.begin(); entry != at_peer_.end();) {
    if (entry->second.step == step) {
      TROUPE_REACHED("an announced payload is withdrawn");
      withdrawn.push_back(entry->second.first);
      entry = forget(entry);
    } else {
      ++entry;
    }
  }
  return withdrawn;
}

// Forgets a message. A chunk that is being written still leaves, because a frame cannot end early.
link_output::announced_position link_output::forget(announced_position position) {
  const auto& forgotten = position->second;
  for (auto transfer = forgotten.first; transfer < forgotten.first + forgotten.count; ++transfer)
    if (auto payload = outgoing_.find(transfer); payload != outgoing_.end()) {
      if (payload->second.lent) { // kept until the peer has finished reading
        returning_.emplace(transfer, std::move(payload->second.payload));
      } else {
        announced_bytes_ -= payload->second.payload.bytes() - payload->second.sent;
        if (payload->second.pulled)
          std::erase(active_, transfer);
      }
      outgoing_.erase(payload);
    }
  held_by_peer_ -= forgotten.cost;
  return at_peer_.erase(position);
}

size_t link_output::gather(std::vector<std::span<const std::byte>>& pieces, size_t window) {
  size_t gathered = 0;
  auto add = [&](std::span<const std::byte> from, size_t skip) {
    auto unwritten = from.subspan(skip);
    unwritten = unwritten.first(std::min(unwritten.size(), window - gathered));
    if (!unwritten.empty())
      pieces.push_back(unwritten);
    gathered += unwritten.size();
  };
  for (size_t i = 0; gathered < window && pieces.size() + 2 <= max_pieces; ++i) {
    if (i == current_.size() && !start_next())
      break;
    const auto& next_frame = current_[i];
    add(next_frame.header, std::min(next_frame.written, frame_header_bytes));
    add(next_frame.body, next_frame.written - std::min(next_frame.written, frame_header_bytes));
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

// Returns the queue of the oldest message that may leave now.
std::deque<link_output::waiting> link_output::*link_output::next_queue() const noexcept {
  auto number_of = [](const std::deque<waiting>& queue) {
    return queue.empty() ? UINT64_MAX : queue.front().number;
  };
  auto plain = number_of(plain_), announcing = number_of(announcing_), last = number_of(last_);
  auto unfinished = at_peer_.empty() ? UINT64_MAX : at_peer_.begin()->first;
  if (last < std::min({plain, announcing, unfinished}))
    return &link_output::last_;
  if (announcing < UINT64_MAX) {
    const auto& first = announcing_.front().encoded;
    auto cost = cost_of_holding(first.bytes.size(), first.payloads.size());
    auto is_within_limit = held_by_peer_ == 0 || held_by_peer_ + cost <= limits_.held_bytes;
    if (is_within_limit && announcing < plain)
      return &link_output::announcing_;
  }
  return plain < UINT64_MAX ? &link_output::plain_ : nullptr;
}

// Takes a message out of its queue. From now on the peer holds it, until its payloads have arrived.
link_output::frame link_output::announce(waiting message_to_send) {
  auto& payloads = message_to_send.encoded.payloads;
  if (payloads.empty())
    return frame_of(std::move(message_to_send.encoded), 0);
  auto cost = cost_of_holding(message_to_send.encoded.bytes.size(), payloads.size());
  auto first = next_transfer_;
  at_peer_.emplace(message_to_send.number,
                   announced{payloads.size(), cost, first, payloads.size(), message_to_send.step});
  held_by_peer_ += cost;
  for (auto& payload : payloads)
    outgoing_.emplace(next_transfer_++, outgoing{std::move(payload), message_to_send.number});
  return frame_of(std::move(message_to_send.encoded), first);
}

link_output::frame link_output::next_chunk() {
  auto transfer = active_.front();
  active_.pop_front();
  auto entry = outgoing_.find(transfer);
  auto& from = entry->second;
  auto unsent = bytes_of(from.payload).subspan(from.sent);
  frame chunk;
  chunk.body = unsent.first(std::min(unsent.size(), chunk_bytes));
  chunk.payload = from.payload;
  chunk.header = header_for(frame_kind::chunk, transfer, chunk.body);
  from.sent += chunk.body.size();
  announced_bytes_ -= chunk.body.size();
  if (chunk.body.size() < unsent.size()) {
    active_.push_back(transfer);
    return chunk;
  }
  finish(transfer);
  return chunk;
}

// Removes a payload that has left, or was returned.
void link_output::finish(uint64_t transfer) {
  auto entry = outgoing_.find(transfer);
  auto message = at_peer_.find(entry->second.message);
  if (--message->second.missing == 0) {
    held_by_peer_ -= message->second.cost;
    at_peer_.erase(message);
  }
  outgoing_.erase(entry);
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
  for (const auto& queued : urgent_)
    longest = std::max(longest, queued.bytes.size());
  for (const auto* queue : {&plain_, &announcing_, &last_})
    for (const auto& queued : *queue)
      longest = std::max(longest, queued.encoded.bytes.size());
  return longest;
}

} // namespace troupe
