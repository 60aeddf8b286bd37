#include "troupe/serialization/wire/link_output.hpp"

#include "troupe/serialization/wire/payload.hpp"

#include <algorithm>

namespace troupe {

void link_output::push(std::deque<frame>& queue, encoded_message what) {
  uint64_t first = what.outside.empty() ? 0 : next_transfer_;
  for (auto& payload : what.outside)
    outgoing_.emplace(next_transfer_++, outgoing{std::move(payload)});
  frame made;
  made.bytes = std::move(what.bytes);
  made.header = header_for(frame_kind::message, first, made.bytes);
  queue.push_back(std::move(made));
}

void link_output::close() noexcept {
  open_ = false;
  urgent_.clear();
  messages_.clear();
  outgoing_.clear();
  active_.clear();
}

status link_output::start(uint64_t transfer) {
  auto found = outgoing_.find(transfer);
  if (found == outgoing_.end() || found->second.pulled)
    return invalid("the peer pulls payload ", transfer, ", which does not wait to be pulled");
  found->second.pulled = true;
  active_.push_back(transfer);
  return {};
}

size_t link_output::fill(std::vector<char>& out, size_t window) {
  size_t appended = 0;
  auto append = [&](std::span<const std::byte> from) {
    auto* first = reinterpret_cast<const char*>(from.data());
    out.insert(out.end(), first, first + from.size());
    appended += from.size();
    current_->written += from.size();
  };
  while (appended < window) {
    if (!current_ && !(current_ = next()))
      break;
    // A message's body is set here, where the frame stays, and not where it was queued.
    if (!current_->bytes.empty())
      current_->body = current_->bytes;
    if (current_->written < frame_header_bytes) {
      auto rest = std::span{current_->header}.subspan(current_->written);
      append(rest.first(std::min(rest.size(), window - appended)));
    }
    if (current_->written >= frame_header_bytes) {
      auto rest = current_->body.subspan(current_->written - frame_header_bytes);
      append(rest.first(std::min(rest.size(), window - appended)));
      if (current_->written == frame_header_bytes + current_->body.size())
        current_.reset();
    }
  }
  return appended;
}

std::optional<link_output::frame> link_output::next() {
  for (auto* queue : {&handshake_, &urgent_, &messages_}) {
    if (!queue->empty()) {
      auto first = std::move(queue->front());
      queue->pop_front();
      return first;
    }
    if (!open_)
      return std::nullopt;
  }
  if (active_.empty())
    return std::nullopt;
  return next_chunk();
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
  if (made.body.size() < rest.size())
    active_.push_back(transfer);
  else
    outgoing_.erase(found);
  return made;
}

bool link_output::idle() const noexcept {
  return !current_ && handshake_.empty() &&
         (!open_ || (urgent_.empty() && messages_.empty() && active_.empty()));
}

size_t link_output::longest_message() const noexcept {
  size_t longest = 0;
  for (const auto* queue : {&urgent_, &messages_})
    for (const auto& each : *queue)
      longest = std::max(longest, each.bytes.size());
  return longest;
}

} // namespace troupe
