//! The extension module `dataaccess._native`: thin bindings around the core.

mod asyncio;
mod capsule;
mod client;
mod input;
mod interrupt;
mod json;
mod log;
mod raise;
mod request;
mod rows;
mod runs;
mod runtime;
mod sandbox;
mod scan;
mod stream;
mod table;
#[cfg(feature = "testing")]
mod testing;
mod token;
mod updates;

/// The native half of `dataaccess`; its names are private to that package.
// No test runs on free-threaded CPython. There `gil_used` has Python enable the GIL again when it imports this module, and
// warn of it. Without it, pyo3 would say that the module was tried without the GIL.
#[pyo3::pymodule(gil_used = true)]
mod _native {
    use std::sync::OnceLock;

    use pyo3::exceptions::PyImportError;
    use pyo3::prelude::*;

    use crate::config::environment;
    use crate::error::Kind;
    use crate::store::SCHEMES;

    #[pymodule_export]
    use super::{
        client::{RawClient, is_of_this_machine, is_secret_header, origin, sandboxes_met},
        interrupt::wakeup_fd,
        request::{column_type, instant_in, start_of_day, today, zone_name, zones_beginning_day},
        runs::folder_status,
        sandbox::{RawSandbox, check_fault, record_time},
        scan::{RawScan, RawUnpublished},
        stream::RawStream,
        table::RawTable,
        token::RawToken,
    };
    #[pymodule_export]
    const VERSION: &str = crate::VERSION;

    /// The interpreter that this module belongs to, identified by the address of its `sys.modules`.
    static OWNER_INTERPRETER: OnceLock<usize> = OnceLock::new();

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // From 3.12 on, Python itself refuses a second interpreter.
        let modules = module.py().import("sys")?.getattr("modules")?.as_ptr() as usize;
        if *OWNER_INTERPRETER.get_or_init(|| modules) != modules {
            return Err(PyImportError::new_err("dataaccess cannot be loaded in a second interpreter of one process"));
        }
        module.add("ERROR_CLASSES", Kind::ALL.iter().map(|kind| kind.class_name()).collect::<Vec<_>>())?;
        module.add("ENVIRONMENT", environment::ALL)?;
        module.add("STORE_SCHEMES", SCHEMES)?;
        #[cfg(feature = "testing")]
        super::testing::add_to(module)?;
        let py = module.py();
        py.import("atexit")?.call_method1("register", (wrap_pyfunction!(super::runtime::begin_exit, py)?,))?;
        // All names count, so the stub need not list them a second time.
        module.delattr("__all__")
    }
}
