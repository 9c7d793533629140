// Work shared among threads, and the two words spoken with whoever waits for it: how far, and stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace spinney {

struct Control {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> done{0}, total{0};
};

// Calls make_worker() once per thread and the worker once per task number, in no particular order. A task writes
// only its own results, so the outcome does not depend on the number of threads. The first exception comes back.
template <class MakeWorker>
void parallel_for(std::size_t tasks, int threads, Control& control, MakeWorker&& make_worker) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex lock;
    auto run = [&] {
        try {
            auto worker = make_worker();
            for (std::size_t task; !control.stop && (task = next++) < tasks;) worker(task);
        } catch (...) {
            std::lock_guard guard(lock);
            if (!failure) failure = std::current_exception();
            next = tasks;
        }
    };
    std::vector<std::jthread> pool;
    for (int t = 1; t < threads && static_cast<std::size_t>(t) < tasks; ++t) pool.emplace_back(run);
    run();
    pool.clear();                                        // joins
    if (failure) std::rethrow_exception(failure);
}

}  // namespace spinney
