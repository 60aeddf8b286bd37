// The part of a saver that training_run and replicas use, and its other callers do not.
#pragma once
#include "troupe/api/train/checkpoint/saver.hpp"
#include "troupe/serialization/storage/folder_lock.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Called as checkpoints are written.
struct saver_watch {
  /// The values are read; on the thread that saves, before the writing begins.
  std::function<void(int64_t step)> begun = {};
  /// All is written, and not visible yet; on the thread that writes. False drops the checkpoint,
  /// which is no error.
  std::function<bool()> may_be_seen = {};
  /// The checkpoint will survive a crash; on the thread that writes.
  std::function<void(int64_t step, const std::string& path)> saved = {};
};

class saver_access {
public:
  using location = std::source_location;

  /// The right to write checkpoints to a folder, which is there. `take_over` is how errors call the
  /// option of that name.
  static result<std::shared_ptr<folder_lock>>
  lock_folder(const std::string& folder, const saver_options& options, std::string_view by,
              std::string_view take_over, location where);
  /// Saves with the right that somebody else holds, or with one of its own where there is none.
  static void use_lock(saver& by, std::shared_ptr<folder_lock> lock);
  /// Whether its last attempt to save failed because another writes to the folder: so will all.
  static bool is_refused(const saver& by);
  static void watch(saver& by, saver_watch with);
  /// saver::restore() or restore_partly(). Of a checkpoint that does not fit, the error is of that
  /// kind, and proposes `or_partly` instead.
  static std::optional<restore_report> restore(saver& by, session& in, bool partly,
                                               std::string_view or_partly, error_kind unfit,
                                               location where);
};

} // namespace troupe
