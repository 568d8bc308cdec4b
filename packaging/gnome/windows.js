// Tells refresh-session(8) which windows are open and which has the focus, as the property Windows of
// org.refreshd.Windows at /org/refreshd/Windows, on GNOME Shell's connection to the session bus. Titles are not read.
//
// packaging/gnome/make puts a beginning and an end around this text, because GNOME Shell 45 and later load modules of
// ECMAScript, and earlier versions do not.

const MINIMISED = 0, OPEN = 1, FOCUSED = 2;

const INTERFACE = `
<node>
  <interface name="org.refreshd.Windows">
    <!-- Of each window its state (0 minimised, 1 open, 2 in focus), its process and its names, the desktop id
         first. Windows of one process in one state are one. -->
    <property name="Windows" type="a(uuas)" access="read"/>
  </interface>
</node>`;

class Windows {
    constructor() {
        this._tracker = Shell.WindowTracker.get_default();
        this._connections = [];
        this._ofWindows = new Map();
        this._last = '';
        this._object = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
        this._object.export(Gio.DBus.session, '/org/refreshd/Windows');
        this._connect(global.display, 'notify::focus-window', () => this._tell());
        this._connect(global.display, 'window-created', (_, window) => this._follow(window));
        // A window may keep its focus behind the overview, where nobody looks at it alone.
        this._isOverview = Main.overview.visible;
        this._connect(Main.overview, 'showing', () => this._setOverview(true));
        this._connect(Main.overview, 'hiding', () => this._setOverview(false));
        // The windows stay while the screen is locked, and none is in front.
        this._connect(Main.sessionMode, 'updated', () => this._tell());
        this._connect(this._tracker, 'tracked-windows-changed', () => this._tell());
        for (const actor of global.get_window_actors())
            this._follow(actor.meta_window);
        this._tell();
    }

    get Windows() {
        return this._rows();
    }

    end() {
        for (const [object, id] of this._connections)
            object.disconnect(id);
        for (const [window, ids] of this._ofWindows)
            ids.forEach(id => window.disconnect(id));
        this._ofWindows.clear();
        // Whoever follows the property asks again, and learns that it is gone.
        this._object.emit_property_changed('Windows', null);
        this._object.flush();
        this._object.unexport();
    }

    _connect(object, signal, handler) {
        this._connections.push([object, object.connect(signal, handler)]);
    }

    _setOverview(isOverview) {
        this._isOverview = isOverview;
        this._tell();
    }

    _follow(window) {
        if (this._ofWindows.has(window))
            return;
        const tell = () => this._tell();
        const ids = ['notify::minimized', 'notify::wm-class', 'notify::gtk-application-id']
            .map(signal => window.connect(signal, tell));
        ids.push(window.connect('unmanaged', () => {
            ids.forEach(id => window.disconnect(id));
            this._ofWindows.delete(window);
            this._tell();
        }));
        this._ofWindows.set(window, ids);
        this._tell();
    }

    _rows() {
        const rows = new Map();
        const isHidden = this._isOverview || Main.sessionMode.isLocked;
        const focused = isHidden ? null : global.display.focus_window;
        for (const window of this._ofWindows.keys()) {
            if (window.is_override_redirect())
                continue;
            const state = window === focused ? FOCUSED
                : window.minimized ? MINIMISED : OPEN;
            const row = [state, Math.max(0, window.get_pid()), this._names(window)];
            rows.set(JSON.stringify(row), row);
        }
        return [...rows.values()];
    }

    _names(window) {
        const id = this._tracker.get_window_app(window)?.get_id() ?? '';
        const names = [window.get_gtk_application_id(), window.get_wm_class(), window.get_wm_class_instance()];
        // An app without a desktop file has an id such as `window:2`.
        if (id.endsWith('.desktop'))
            names.unshift(id.slice(0, -'.desktop'.length));
        return [...new Set(names.filter(Boolean))];
    }

    _tell() {
        const rows = this._rows();
        const text = JSON.stringify(rows);
        if (text === this._last)
            return;
        this._last = text;
        this._object.emit_property_changed('Windows', new GLib.Variant('a(uuas)', rows));
    }
}
