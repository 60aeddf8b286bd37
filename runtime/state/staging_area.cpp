#include "troupe/runtime/state/staging_area.hpp"

#include <algorithm>
#include <numeric>

namespace troupe {
namespace {

bool is_complete(const element& tuple) {
  return std::ranges::none_of(tuple, [](const auto& component) { return component.empty(); });
}

} // namespace

template <class... Ts>
status staging_area::wrong(const Ts&... parts) const {
  return invalid("staging area '", name(), "': ", parts...);
}

staging_area::staging_area(staging_options options)
    : waitable_resource(options.name), options_(std::move(options)) {}

result<std::unique_ptr<staging_area>> staging_area::make(staging_options options) {
  std::unique_ptr<staging_area> created{new staging_area{std::move(options)}};
  const auto& declared = created->options_;
  if (declared.capacity < 0 || declared.memory_limit < 0)
    return created->wrong("capacity and memory_limit must not be negative, got ", declared.capacity,
                          " and ", declared.memory_limit);
  return created;
}

status staging_area::check(const std::vector<int64_t>& indices, size_t components) const {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= static_cast<int64_t>(components))
      return wrong("index ", indices[i], " is not in 0 to ", components, " - 1");
    if (std::find(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(i), indices[i]) !=
        indices.begin() + static_cast<std::ptrdiff_t>(i))
      return wrong("index ", indices[i], " occurs twice");
  }
  return {};
}

void staging_area::put(request_id request, element components, answers& done) {
  place whole_tuple{.components = components.size()};
  whole_tuple.indices.resize(components.size());
  std::iota(whole_tuple.indices.begin(), whole_tuple.indices.end(), 0);
  put(request, whole_tuple, std::move(components), done);
}

void staging_area::put(request_id request, const place& where, element components, answers& done) {
  auto outcome = check(where.indices, where.components);
  if (outcome && (components.empty() || where.indices.size() != components.size()))
    outcome =
        wrong("has ", where.indices.size(), " indices for ", components.size(), " components");
  auto bytes = bytes_of(components);
  auto limit = static_cast<size_t>(options_.memory_limit);
  if (outcome && limit > 0 && bytes > limit)
    outcome = failure(error_kind::resource_exhausted, "staging area '", name(), "': a tuple of ",
                      bytes, " bytes never fits into the limit of ", limit);
  if (!outcome) {
    done.push_back({request, std::move(outcome)});
    return;
  }
  puts_.push_back({request, where, std::move(components), bytes});
  serve_waiting(done);
}

bool staging_area::fits(const pending_put& pending) const noexcept {
  auto begins_tuple =
      options_.order == staging_order::fifo || !incomplete_.contains(pending.where.key);
  auto tuples = size() + incomplete();
  return !begins_tuple || ((options_.capacity == 0 || tuples < options_.capacity) &&
                           (options_.memory_limit == 0 || tuples == 0 ||
                            bytes_ + pending.bytes <= static_cast<size_t>(options_.memory_limit)));
}

// A further part of an incomplete tuple is always admitted, and must not wait behind new tuples.
bool staging_area::admit(answers& done) {
  auto next = options_.order == staging_order::fifo && !puts_.empty() && !fits(puts_.front())
                  ? puts_.end()
                  : std::ranges::find_if(puts_, [&](const auto& pending) { return fits(pending); });
  if (next == puts_.end())
    return false;
  auto admitted = std::move(*next);
  puts_.erase(next);
  if (options_.order == staging_order::fifo) {
    bytes_ += admitted.bytes;
    tuples_.emplace(next_++, std::move(admitted.tensors));
    done.push_back({admitted.id, {}});
    return true;
  }
  auto& [key, indices, components] = admitted.where;
  if (tuples_.contains(key)) {
    done.push_back({admitted.id, wrong("key ", key, " is there already")});
    return true;
  }
  auto partial = incomplete_.find(key);
  for (auto index : indices)
    if (partial != incomplete_.end() && (partial->second.size() != components ||
                                         !partial->second[static_cast<size_t>(index)].empty())) {
      done.push_back({admitted.id, wrong("key ", key, " has component ", index,
                                         " already, or another number of components")});
      return true;
    }
  auto& tuple = incomplete_[key];
  tuple.resize(components);
  for (size_t i = 0; i < indices.size(); ++i)
    tuple[static_cast<size_t>(indices[i])] = std::move(admitted.tensors[i]);
  bytes_ += admitted.bytes;
  if (is_complete(tuple)) {
    tuples_.emplace(key, std::move(tuple));
    incomplete_.erase(key);
  }
  done.push_back({admitted.id, {}});
  return true;
}

void staging_area::take(request_id request, take_options options, answers& done) {
  if (options.index && *options.index < 0) {
    done.push_back({request, wrong("index must not be negative, got ", *options.index)});
    return;
  }
  takes_.push_back({request, std::move(options)});
  serve_waiting(done);
}

// Answers the request if its tuple is there; returns whether it has answered.
bool staging_area::answer_take(const pending_take& pending, answers& done) {
  const auto& options = pending.options;
  auto entry = options.key ? tuples_.find(*options.key) : tuples_.begin();
  if (options.index)
    entry = *options.index < size() ? std::next(tuples_.begin(), *options.index) : tuples_.end();
  if (entry == tuples_.end())
    return false;
  auto& tuple = entry->second;
  auto indices = options.indices;
  if (options.all_components) {
    indices.resize(tuple.size());
    std::iota(indices.begin(), indices.end(), 0);
  }
  if (auto valid = check(indices, tuple.size()); !valid) {
    done.push_back({pending.id, std::move(valid)});
    return true;
  }
  // A component that an earlier request has taken out will not come back.
  for (auto index : indices)
    if (tuple[static_cast<size_t>(index)].empty()) {
      done.push_back({pending.id, wrong("component ", index, " of key ", entry->first,
                                        " was taken out already")});
      return true;
    }
  answer reply{pending.id, {}};
  if (options.with_key)
    reply.tensors.push_back(tensor::scalar(entry->first));
  for (auto index : indices)
    reply.tensors.push_back(tuple[static_cast<size_t>(index)]);
  done.push_back(std::move(reply));
  if (options.peek)
    return true;
  taken_tuple taken{entry->first, {}};
  taken.tensors.resize(tuple.size());
  for (auto index : indices) {
    auto& component = tuple[static_cast<size_t>(index)];
    bytes_ -= component.bytes();
    taken.tensors[static_cast<size_t>(index)].swap(component);
  }
  if (std::ranges::all_of(tuple, [](const auto& component) { return component.empty(); }))
    tuples_.erase(entry);
  taken_[pending.id.step].push_back(std::move(taken));
  return true;
}

bool staging_area::serve(answers& done) {
  for (auto request = takes_.begin(); request != takes_.end(); ++request)
    if (answer_take(*request, done)) {
      takes_.erase(request);
      return true;
    }
  return false;
}

void staging_area::serve_waiting(answers& done) {
  while (admit(done) || serve(done)) {
  }
}

void staging_area::clear(answers& done) {
  tuples_.clear();
  incomplete_.clear();
  taken_.clear();
  bytes_ = 0;
  serve_waiting(done);
}

status staging_area::declare_again(const waitable_resource& other) const {
  const auto& redeclared = static_cast<const staging_area&>(other).options_;
  auto described = [](const staging_options& options) {
    return concat("of capacity ", options.capacity, " and ", options.memory_limit, " bytes",
                  options.order == staging_order::fifo ? "" : ", by key");
  };
  if (redeclared.capacity != options_.capacity ||
      redeclared.memory_limit != options_.memory_limit || redeclared.order != options_.order)
    return invalid("staging area '", name(), "' exists ", described(options_),
                   ", and is declared again ", described(redeclared));
  return {};
}

void staging_area::cancel(const request_filter& selected, const status& reason, answers& done) {
  fail_requests(puts_, selected, reason, done);
  fail_requests(takes_, selected, reason, done);
  serve_waiting(done);
}

// Returns the tuples in reverse order, so that the order is as before.
void staging_area::end_step(step_id step, bool failed, answers& done) {
  auto taken = taken_.extract(step);
  if (taken.empty() || !failed)
    return;
  auto& tuples = taken.mapped();
  for (; !tuples.empty(); tuples.pop_back()) {
    auto& [key, tensors] = tuples.back();
    bytes_ += bytes_of(tensors);
    // Merges the components with those that stayed in; otherwise they become a tuple of their own.
    auto [begin, end] = tuples_.equal_range(key);
    auto remainder = std::find_if(begin, end, [&returned = tensors](const auto& entry) {
      const auto& tuple = entry.second;
      for (size_t i = 0; i < tuple.size(); ++i)
        if (tuple.size() != returned.size() || (!tuple[i].empty() && !returned[i].empty()))
          return false;
      return true;
    });
    if (remainder == end) {
      tuples_.emplace_hint(begin, key, std::move(tensors));
      continue;
    }
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!tensors[i].empty())
        remainder->second[i] = std::move(tensors[i]);
  }
  serve_waiting(done);
}

void staging_area::reset(const status& reason, answers& done) {
  auto every_request = request_filter::every();
  fail_requests(puts_, every_request, reason, done);
  fail_requests(takes_, every_request, reason, done);
  tuples_.clear();
  incomplete_.clear();
  taken_.clear();
  bytes_ = 0;
}

std::string staging_area::describe() const {
  auto text = concat(size(), " tuples of ", bytes_, " bytes");
  if (!incomplete_.empty())
    text += concat(", ", incomplete(), " incomplete");
  if (!puts_.empty())
    text += concat(", ", puts_.size(), " stages wait");
  if (!takes_.empty())
    text += concat(", ", takes_.size(), " unstages wait");
  return text;
}

} // namespace troupe
