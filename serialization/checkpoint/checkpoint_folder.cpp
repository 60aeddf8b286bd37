#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include "troupe/serialization/storage/slices.hpp"
#include "troupe/serialization/tensor_bundle/no_such_tensor.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace troupe {
namespace {

constexpr std::string_view manifest_file = "manifest.json", tensors_file = "tensors.safetensors",
                           latest_file = "latest", index_ending = ".index", step_prefix = "step-";

std::optional<int64_t> take_number(std::string_view& from) {
  int64_t number = 0;
  auto [end, problem] = std::from_chars(from.data(), from.data() + from.size(), number);
  if (problem != std::errc{})
    return {};
  from.remove_prefix(static_cast<size_t>(end - from.data()));
  return number;
}

// "step-1200", or "step-1200-2", the second of that step.
struct step_name {
  int64_t step = 0, time = 1;
  auto operator<=>(const step_name&) const = default;
};
std::optional<step_name> step_of(std::string_view name) {
  if (!name.starts_with(step_prefix))
    return {};
  name.remove_prefix(step_prefix.size());
  step_name found;
  auto step = take_number(name);
  if (!step)
    return {};
  found.step = *step;
  if (name.empty())
    return found;
  if (!name.starts_with('-'))
    return {};
  name.remove_prefix(1);
  auto time = take_number(name);
  if (!time || !name.empty())
    return {};
  found.time = *time;
  return found;
}

bool is_missing(const status& why) { return why.kind() == error_kind::not_found; }

} // namespace

// -- reading -------------------------------------------------------------------------------------

result<checkpoint_reader> checkpoint_reader::open(file_system& files, const std::string& path) {
  checkpoint_reader made;
  made.path_ = path;
  TROUPE_ASSIGN(made.manifest_, read_manifest(files, path_in(path, manifest_file)));
  for (const auto& one : made.manifest_.tensors) {
    if (one.file.ends_with(index_ending)) {
      if (made.bundles_.contains(one.file))
        continue;
      auto prefix = one.file.substr(0, one.file.size() - index_ending.size());
      TROUPE_ASSIGN(auto bundle, tensor_bundle_reader::open(files, path_in(path, prefix)));
      made.bundles_[one.file] = std::make_unique<tensor_bundle_reader>(std::move(bundle));
      continue;
    }
    auto& shard = made.shards_[one.file];
    if (shard)
      continue;
    TROUPE_ASSIGN(auto opened, safetensors_reader::open(files, path_in(path, one.file)));
    shard = std::make_unique<safetensors_reader>(std::move(opened));
  }
  return made;
}

std::vector<const manifest_tensor*> checkpoint_reader::parts_of(std::string_view name) const {
  std::vector<const manifest_tensor*> found;
  for (const auto& one : manifest_.tensors)
    if (one.name == name)
      found.push_back(&one);
  return found;
}

std::optional<std::pair<dtype, shape>> checkpoint_reader::find(std::string_view name) const {
  auto parts = parts_of(name);
  if (parts.empty())
    return {};
  const auto& first = *parts.front();
  return std::pair{first.type, first.slice ? first.slice->whole : first.dims};
}

// The manifest has a checksum of its own, and says what must be there.
static result<const bundle_entry*> entry_of(const tensor_bundle_reader& in,
                                            const manifest_tensor& one, const std::string& path) {
  const auto* found = in.find(one.stored_as);
  if (!found || found->type != one.type || found->dims != one.dims || found->bytes != one.bytes ||
      found->checksum != one.checksum)
    return failure(error_kind::data_loss, path_in(path, one.file), ": tensor '", one.name,
                   "' is not what the manifest says: its bytes have changed");
  return found;
}

result<tensor> checkpoint_reader::read_entry(const manifest_tensor& one, allocator& from) const {
  auto bundle = bundles_.find(one.file);
  if (bundle == bundles_.end())
    return read_stored(*shards_.at(one.file), one, from);
  TROUPE_TRY(entry_of(*bundle->second, one, path_).status());
  return bundle->second->read(one.stored_as, from);
}

result<tensor> checkpoint_reader::read(std::string_view name, allocator& from) const {
  auto known = find(name);
  if (!known)
    return no_such_tensor(path_, name, manifest_.tensors);
  auto parts = parts_of(name);
  if (!parts.front()->slice)
    return read_entry(*parts.front(), from);
  std::vector<int64_t> origin(static_cast<size_t>(known->second.rank()), 0);
  return read_part(name, origin, known->second, from);
}

result<tensor> checkpoint_reader::read_part(std::string_view name,
                                            const std::vector<int64_t>& offset, const shape& dims,
                                            allocator& from) const {
  auto known = find(name);
  if (!known)
    return no_such_tensor(path_, name, manifest_.tensors);
  if (auto fits = check_slice(known->second, offset, dims); !fits)
    return std::move(fits).within(concat(path_, ": tensor '", name, "'"));
  if (auto bundle = bundles_.find(parts_of(name).front()->file); bundle != bundles_.end()) {
    const auto& one = *parts_of(name).front();
    TROUPE_TRY(entry_of(*bundle->second, one, path_).status());
    return bundle->second->read_slice(one.stored_as, offset, dims, from);
  }
  TROUPE_ASSIGN(auto made, tensor::make(known->first, dims, from));
  for (const auto* part : parts_of(name)) {
    auto at = part->slice ? part->slice->offset
                          : std::vector<int64_t>(static_cast<size_t>(dims.rank()), 0);
    if (!have_common(at, part->dims, offset, dims))
      continue;
    TROUPE_ASSIGN(auto stored, read_entry(*part, from));
    copy_common(stored, at, made, offset);
  }
  return made;
}

status checkpoint_reader::verify() const {
  for (const auto& one : manifest_.tensors)
    TROUPE_TRY(read_entry(one, heap_allocator()).status());
  return {};
}

// -- writing -------------------------------------------------------------------------------------

std::vector<manifest_tensor> manifest_entries(const tensor_bundle_reader& of,
                                              const std::string& file) {
  std::vector<manifest_tensor> all;
  for (const auto& one : of.tensors())
    all.push_back({.name = one.name,
                   .type = one.type,
                   .dims = one.dims,
                   .file = file,
                   .stored_as = one.name,
                   .bytes = one.bytes,
                   .checksum = one.checksum});
  return all;
}

status add_item(tensor_bundle_writer& to, const checkpoint_item& item) {
  return item.slice ? to.add_slice(item.name, item.slice->whole, item.slice->offset, item.value)
                    : to.add(item.name, item.value);
}

static status write_bundle(file_system& files, const std::string& folder,
                           checkpoint_manifest& about, const std::vector<checkpoint_item>& items) {
  auto prefix = path_in(folder, bundle_name);
  TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, prefix));
  for (const auto& one : items)
    TROUPE_TRY(add_item(writer, one));
  TROUPE_TRY(writer.finish());
  TROUPE_ASSIGN(auto written, tensor_bundle_reader::open(files, prefix));
  about.tensors = manifest_entries(written, concat(bundle_name, index_ending));
  return {};
}

status checkpoint_folder::write(const std::string& folder, checkpoint_manifest& about,
                                const std::vector<checkpoint_item>& items) {
  // A slice is stored under the whole's name and its place.
  std::vector<std::pair<std::string, tensor>> tensors;
  std::map<std::string, const checkpoint_item*> by_name;
  for (const auto& one : items) {
    auto name = one.name;
    if (one.slice)
      for (auto at : one.slice->offset)
        name += concat('/', at);
    if (!by_name.emplace(name, &one).second)
      return invalid("two tensors are called '", name, "'");
    tensors.emplace_back(std::move(name), one.value);
  }
  TROUPE_ASSIGN(auto stored, write_safetensors(*files_, path_in(folder, tensors_file), tensors));
  for (const auto& one : stored) {
    const auto& item = *by_name.at(one.name);
    auto entry =
        manifest_entry(one, std::string{tensors_file}, item.value.type(), item.value.dims());
    entry.name = item.name;
    entry.slice = item.slice;
    entry.stored_as = one.name;
    about.tensors.push_back(std::move(entry));
  }
  return {};
}

result<std::string> checkpoint_folder::save(checkpoint_manifest about,
                                            const std::vector<checkpoint_item>& items,
                                            checkpoint_format format) {
  return save(std::move(about), [&](const std::string& folder, checkpoint_manifest& of) {
    return format == checkpoint_format::tensorflow ? write_bundle(*files_, folder, of, items)
                                                   : write(folder, of, items);
  });
}

result<std::string> checkpoint_folder::save(checkpoint_manifest about,
                                            const tensor_writer& write_tensors) {
  TROUPE_TRY(make_folder_durably(*files_, path_));
  auto name = concat(step_prefix, about.step);
  for (int other = 2; files_->inspect(path_of(name)).ok(); ++other)
    name = concat(step_prefix, about.step, '-', other);
  auto draft = concat(draft_prefix, name, draft_suffix_);
  if (files_->inspect(path_of(draft)).ok())
    TROUPE_TRY(remove_folder(draft)); // of a process that died, or of an attempt that failed
  TROUPE_TRY(files_->make_folder(path_of(draft)));
  auto outcome = [&]() -> status {
    TROUPE_TRY(write_tensors(path_of(draft), about));
    TROUPE_TRY(write_manifest(*files_, path_in(path_of(draft), manifest_file), about));
    return files_->sync_folder(path_of(draft));
  }();
  auto is_named = false, is_refused = false;
  auto commit = [&]() -> status {
    TROUPE_TRY(files_->rename(path_of(draft), path_of(name)));
    is_named = true;
    TROUPE_TRY(files_->sync_folder(path_));
    return replace_file(*files_, path_of(std::string{latest_file}), name);
  };
  if (outcome.ok()) {
    outcome = commit_within_ ? commit_within_(commit) : commit();
    is_refused = outcome.kind() == error_kind::already_exists;
  }
  if (!outcome) {
    // Where another process has taken the folder over, what is there may be that one's.
    if (!is_named && !is_refused)
      (void)remove_folder(draft);
    return outcome;
  }
  return name;
}

result<std::vector<checkpoint_folder::info>> checkpoint_folder::list() const {
  TROUPE_ASSIGN(auto all, files_->list(path_));
  std::vector<info> found;
  for (const auto& one : all)
    if (auto step = step_of(one.name);
        one.folder && step && files_->inspect(path_in(path_of(one.name), manifest_file)).ok())
      found.push_back({one.name, step->step});
  std::ranges::sort(found, {}, [](const info& one) { return *step_of(one.name); });
  return found;
}

result<std::string> checkpoint_folder::latest() const {
  TROUPE_ASSIGN(auto all, list());
  if (auto named = read_whole(*files_, path_of(std::string{latest_file}), 4096); named)
    if (std::ranges::find(all, *named, &info::name) != all.end())
      return *std::move(named);
  if (all.empty())
    return failure(error_kind::not_found, path_, ": has no complete checkpoint");
  return all.back().name;
}

result<std::optional<checkpoint_folder::info>> checkpoint_folder::best(bool lower_is_better) const {
  TROUPE_ASSIGN(auto complete, list());
  TROUPE_ASSIGN(auto names, find_best({.best = 1, .lower_is_better = lower_is_better}, complete));
  auto chosen = std::ranges::find_if(
      complete, [&](const info& checkpoint) { return names.contains(checkpoint.name); });
  return chosen == complete.end() ? std::nullopt : std::optional{*chosen};
}

// First the manifest: without it, the folder is none. A process from which this one has taken the
// folder over may be removing its draft, too, or be adding a last few files to it.
status checkpoint_folder::remove_folder(const std::string& name) {
  constexpr int most_attempts = 8;
  for (int attempt = 1;; ++attempt) {
    auto outcome = remove_files_and_folder(name);
    if (outcome.kind() != error_kind::failed_precondition || attempt == most_attempts)
      return outcome;
  }
}

// Fails with failed_precondition where a file has come meanwhile.
status checkpoint_folder::remove_files_and_folder(const std::string& name) {
  auto folder = path_of(name);
  auto all = files_->list(folder);
  if (!all)
    return is_missing(all.status()) ? status{} : all.status();
  auto remove = [&](const std::string& path) {
    auto outcome = files_->remove(path);
    return !outcome && is_missing(outcome) ? status{} : outcome;
  };
  std::ranges::stable_partition(*all, [](auto& one) { return one.name == manifest_file; });
  for (const auto& one : *all) {
    TROUPE_TRY(remove(path_in(folder, one.name)));
    if (one.name == manifest_file)
      TROUPE_TRY(files_->sync_folder(folder));
  }
  return remove(folder);
}

// What a manifest says of that kind; nothing where it says none.
result<std::optional<double>> checkpoint_folder::number_of(const info& one,
                                                           std::string_view key) const {
  TROUPE_ASSIGN(auto manifest, read_manifest(*files_, path_in(path_of(one.name), manifest_file)));
  auto text = manifest.made.find(std::string{key});
  double value = 0;
  if (text == manifest.made.end() ||
      std::from_chars(text->second.data(), text->second.data() + text->second.size(), value).ec !=
          std::errc{} ||
      !std::isfinite(value))
    return std::optional<double>{};
  return std::optional{value};
}

// The best of those that have a metric; of equal ones the newer.
result<std::set<std::string>> checkpoint_folder::find_best(const checkpoint_retention& which,
                                                           const std::vector<info>& all) const {
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& one : all) {
    TROUPE_ASSIGN(auto value, number_of(one, metric_key));
    if (value)
      ranked.emplace_back(which.lower_is_better ? *value : -*value, one.name);
  }
  std::ranges::reverse(ranked);
  std::ranges::stable_sort(ranked, {}, &std::pair<double, std::string>::first);
  std::set<std::string> best;
  for (const auto& [value, name] : ranked)
    if (static_cast<int64_t>(best.size()) < which.best)
      best.insert(name);
  return best;
}

status checkpoint_folder::retain(const checkpoint_retention& which) {
  if (which.newest <= 0)
    return {};
  // The highest step is no substitute where `latest` is there and cannot be read: it may be that of
  // a save that failed, and not survive a crash.
  auto named = read_whole(*files_, path_of(std::string{latest_file}), 4096);
  if (!named && !is_missing(named.status()))
    return named.status();
  TROUPE_ASSIGN(auto all, list());
  if (all.empty())
    return {};
  auto known = named && std::ranges::find(all, *named, &info::name) != all.end();
  auto newest = known ? *named : all.back().name;
  // Those of higher steps are of an earlier run, which this one does not go on with.
  auto at = std::ranges::find(all, newest, &info::name);
  std::rotate(all.begin(), at == all.end() ? at : at + 1, all.end());
  auto spare = static_cast<int64_t>(all.size()) - which.newest;
  std::set<std::string> best;
  if (which.best > 0) {
    TROUPE_ASSIGN(best, find_best(which, all));
  }
  std::set<int64_t> spans; // of which one stays
  std::set<double> hours;
  status outcome;
  for (const auto& one : all) {
    if (spare-- <= 0)
      break;
    auto stays = which.every_steps > 0 && spans.insert(one.step / which.every_steps).second;
    if (which.every_hours > 0) {
      TROUPE_ASSIGN(auto time, number_of(one, time_key));
      stays |= time && hours.insert(std::floor(*time / 3600 / which.every_hours)).second;
    }
    if (stays || one.name == newest || best.contains(one.name))
      continue;
    if (auto removed = remove_folder(one.name); !removed && outcome.ok())
      outcome = std::move(removed);
  }
  return outcome;
}

status checkpoint_folder::clean() {
  auto all = files_->list(path_);
  if (!all)
    return all.status().kind() == error_kind::not_found ? status{} : all.status();
  for (const auto& one : *all) {
    if (!one.folder && one.name.starts_with(draft_prefix)) {
      TROUPE_TRY(files_->remove(path_of(one.name)));
      continue;
    }
    auto draft = one.folder && one.name.starts_with(draft_prefix);
    auto rest = one.folder && step_of(one.name) &&
                is_missing(files_->inspect(path_in(path_of(one.name), manifest_file)).status());
    if (draft || rest)
      TROUPE_TRY(remove_folder(one.name));
  }
  return {};
}

} // namespace troupe
