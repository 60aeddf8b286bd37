#include "troupe/runtime/state/staging_area.hpp"

#include <algorithm>
#include <numeric>

namespace troupe {
namespace {

bool is_complete(const element& what) {
  return std::ranges::none_of(what, [](const auto& one) { return one.empty(); });
}

} // namespace

template <class... Ts>
status staging_area::wrong(const Ts&... parts) const {
  return invalid("staging area '", name(), "': ", parts...);
}

staging_area::staging_area(staging_options options)
    : responder(options.name), options_(std::move(options)) {}

result<std::unique_ptr<staging_area>> staging_area::make(staging_options options) {
  std::unique_ptr<staging_area> made{new staging_area{std::move(options)}};
  const auto& of = made->options_;
  if (of.capacity < 0 || of.memory_limit < 0)
    return made->wrong("capacity and memory_limit must not be negative, got ", of.capacity, " and ",
                       of.memory_limit);
  return made;
}

status staging_area::check(const std::vector<int64_t>& indices, size_t components) const {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= static_cast<int64_t>(components))
      return wrong("index ", indices[i], " is not in 0 to ", components, " - 1");
    if (std::find(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(i), indices[i]) !=
        indices.begin() + static_cast<std::ptrdiff_t>(i))
      return wrong("index ", indices[i], " stands twice");
  }
  return {};
}

void staging_area::put(request_id who, element what, answers& done) {
  place all{.components = what.size()};
  all.indices.resize(what.size());
  std::iota(all.indices.begin(), all.indices.end(), 0);
  put(who, all, std::move(what), done);
}

void staging_area::put(request_id who, const place& where, element what, answers& done) {
  auto outcome = check(where.indices, where.components);
  if (outcome && (what.empty() || where.indices.size() != what.size()))
    outcome = wrong("has ", where.indices.size(), " indices for ", what.size(), " components");
  auto bytes = bytes_of(what);
  auto limit = static_cast<size_t>(options_.memory_limit);
  if (outcome && limit > 0 && bytes > limit)
    outcome = failure(error_kind::resource_exhausted, "staging area '", name(), "': a tuple of ",
                      bytes, " bytes never fits into the limit of ", limit);
  if (!outcome) {
    done.push_back({who, std::move(outcome)});
    return;
  }
  puts_.push_back({who, where, std::move(what), bytes});
  settle_lines(done);
}

bool staging_area::fits(const pending_put& what) const noexcept {
  auto completes = options_.order == staging_order::line || !incomplete_.contains(what.where.key);
  auto tuples = size() + incomplete();
  return !completes || ((options_.capacity == 0 || tuples < options_.capacity) &&
                        (options_.memory_limit == 0 || tuples == 0 ||
                         bytes_ + what.bytes <= static_cast<size_t>(options_.memory_limit)));
}

// What completes a tuple needs no room, and must not stand behind what does.
bool staging_area::admit(answers& done) {
  auto it = options_.order == staging_order::line && !puts_.empty() && !fits(puts_.front())
                ? puts_.end()
                : std::ranges::find_if(puts_, [&](const auto& one) { return fits(one); });
  if (it == puts_.end())
    return false;
  auto first = std::move(*it);
  puts_.erase(it);
  if (options_.order == staging_order::line) {
    bytes_ += first.bytes;
    tuples_.emplace(next_++, std::move(first.tensors));
    done.push_back({first.who, {}});
    return true;
  }
  auto& [key, indices, components] = first.where;
  if (tuples_.contains(key)) {
    done.push_back({first.who, wrong("key ", key, " is there already")});
    return true;
  }
  auto known = incomplete_.find(key);
  for (auto index : indices)
    if (known != incomplete_.end() && (known->second.size() != components ||
                                       !known->second[static_cast<size_t>(index)].empty())) {
      done.push_back({first.who, wrong("key ", key, " has component ", index,
                                       " already, or another number of components")});
      return true;
    }
  auto& tuple = incomplete_[key];
  tuple.resize(components);
  for (size_t i = 0; i < indices.size(); ++i)
    tuple[static_cast<size_t>(indices[i])] = std::move(first.tensors[i]);
  bytes_ += first.bytes;
  if (is_complete(tuple)) {
    tuples_.emplace(key, std::move(tuple));
    incomplete_.erase(key);
  }
  done.push_back({first.who, {}});
  return true;
}

void staging_area::take(request_id who, taking how, answers& done) {
  if (how.index && *how.index < 0) {
    done.push_back({who, wrong("index must not be negative, got ", *how.index)});
    return;
  }
  takes_.push_back({who, std::move(how)});
  settle_lines(done);
}

// Whether what it waits for is there; then it is answered.
bool staging_area::answer_take(const pending_take& what, answers& done) {
  const auto& how = what.how;
  auto it = how.key ? tuples_.find(*how.key) : tuples_.begin();
  if (how.index)
    it = *how.index < size() ? std::next(tuples_.begin(), *how.index) : tuples_.end();
  if (it == tuples_.end())
    return false;
  auto& tuple = it->second;
  auto places = how.indices;
  if (how.all) {
    places.resize(tuple.size());
    std::iota(places.begin(), places.end(), 0);
  }
  if (auto valid = check(places, tuple.size()); !valid) {
    done.push_back({what.who, std::move(valid)});
    return true;
  }
  // A part that an earlier request has taken out will not come again.
  for (auto one : places)
    if (tuple[static_cast<size_t>(one)].empty()) {
      done.push_back(
          {what.who, wrong("component ", one, " of key ", it->first, " was taken out already")});
      return true;
    }
  answer made{what.who, {}};
  if (how.gives_key)
    made.tensors.push_back(tensor::scalar(it->first));
  for (auto one : places)
    made.tensors.push_back(tuple[static_cast<size_t>(one)]);
  done.push_back(std::move(made));
  if (how.looks)
    return true;
  taken_tuple taken{it->first, {}};
  taken.tensors.resize(tuple.size());
  for (auto one : places) {
    auto& from = tuple[static_cast<size_t>(one)];
    bytes_ -= from.bytes();
    taken.tensors[static_cast<size_t>(one)].swap(from);
  }
  if (std::ranges::all_of(tuple, [](const auto& one) { return one.empty(); }))
    tuples_.erase(it);
  taken_[what.who.step].push_back(std::move(taken));
  return true;
}

bool staging_area::serve(answers& done) {
  for (auto it = takes_.begin(); it != takes_.end(); ++it)
    if (answer_take(*it, done)) {
      takes_.erase(it);
      return true;
    }
  return false;
}

void staging_area::settle_lines(answers& done) {
  while (admit(done) || serve(done)) {
  }
}

void staging_area::clear(answers& done) {
  tuples_.clear();
  incomplete_.clear();
  taken_.clear();
  bytes_ = 0;
  settle_lines(done);
}

status staging_area::declare_again(const responder& other) const {
  const auto& again = static_cast<const staging_area&>(other).options_;
  auto described = [](const staging_options& of) {
    return concat("of capacity ", of.capacity, " and ", of.memory_limit, " bytes",
                  of.order == staging_order::line ? "" : ", by key");
  };
  if (again.capacity != options_.capacity || again.memory_limit != options_.memory_limit ||
      again.order != options_.order)
    return invalid("staging area '", name(), "' exists ", described(options_),
                   ", and is declared again ", described(again));
  return {};
}

void staging_area::cancel(const which_requests& which, const status& why, answers& done) {
  give_up(puts_, which, why, done);
  give_up(takes_, which, why, done);
  settle_lines(done);
}

// In the reverse order, so that the line is as before.
void staging_area::settle(step_id step, bool failed, answers& done) {
  auto all = taken_.extract(step);
  if (all.empty() || !failed)
    return;
  auto& tuples = all.mapped();
  for (; !tuples.empty(); tuples.pop_back()) {
    auto& [key, tensors] = tuples.back();
    bytes_ += bytes_of(tensors);
    // Beside the parts that stayed in, where they did; else it is a tuple of its own.
    auto [begin, end] = tuples_.equal_range(key);
    auto rest = std::find_if(begin, end, [&of = tensors](const auto& one) {
      const auto& tuple = one.second;
      for (size_t i = 0; i < tuple.size(); ++i)
        if (tuple.size() != of.size() || (!tuple[i].empty() && !of[i].empty()))
          return false;
      return true;
    });
    if (rest == end) {
      tuples_.emplace_hint(begin, key, std::move(tensors));
      continue;
    }
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!tensors[i].empty())
        rest->second[i] = std::move(tensors[i]);
  }
  settle_lines(done);
}

void staging_area::reset(const status& why, answers& done) {
  auto all = which_requests::all();
  give_up(puts_, all, why, done);
  give_up(takes_, all, why, done);
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
