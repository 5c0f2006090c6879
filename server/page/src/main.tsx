// The live page of universe-server. It begins here.

import { render } from 'preact';
import * as app from './app';
import { App } from './ui/App';

render(<App />, document.getElementById('app')!);
void app.start();
